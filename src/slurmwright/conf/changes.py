r"""What to change in a Document, to the spans of its text that must be rewritten; `Document.apply` does it.

Each function only computes; ten thousand changes for one document are one pass over its text. Values are
quoted where Slurm needs it, and `#` and `\` are escaped, since Slurm reads them inside quotes too.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from slurmwright.conf.logical import BLANKS
from slurmwright.conf.reader import read
from slurmwright.conf.values import RECORD_KEYS, Edit, Include, Pair, Statement
from slurmwright.conf.writing import break_at_end, check_line, lead, line_break, pair_text, value_text
from slurmwright.core.errors import InputError

if TYPE_CHECKING:
    from slurmwright.conf.document import Document


class Change(NamedTuple):
    """Put `text` in the place of start:end; with `new_line` it is a line to add at the end of the file."""

    start: int
    end: int
    text: str
    edit: Edit | None
    new_line: bool = False


Changes = tuple[Change, ...]


def set_key(doc: Document, key: str, value: str) -> Changes:
    """Give a global key a value: in its last line, which is the one that counts, or in a new last line."""
    if key.lower() in RECORD_KEYS:
        raise ValueError(f"{key} begins a record; edit its statement")
    found = doc.get(key)
    if found is not None:
        return _set_value(doc, found, value)
    line = pair_text(key, value)
    return (_added(doc, line, Edit(doc.file, _last_line(doc) + 1, key, None, value)),)


def unset_key(doc: Document, key: str) -> Changes:
    """Take a global key out, wherever it stands; its line goes too unless a comment or more is left on it."""
    if key.lower() in RECORD_KEYS:
        raise ValueError(f"{key} begins a record; edit its statement")
    return tuple(change for at in doc.lines(key) for change in _unset(doc, at, [0]))


def set_pair(doc: Document, statement: Statement, key: str, value: str) -> Changes:
    """Give a key of one line a value: where it counts now, or behind the last pair, before any comment."""
    _check_owned(doc, statement)
    found = statement.get(key)
    if found is not None:
        changes = _set_value(doc, found, value)
    elif statement.pairs:
        last = statement.pairs[-1]
        edit = Edit(doc.file, last.line, key, None, value)
        changes = (Change(last.end, last.end, " " + pair_text(key, value), edit),)
    else:
        raise InputError.of(
            f"{key} cannot be set on a line that Slurm cannot read ('{statement.rest}')",
            doc.file,
            statement.line,
        )
    wanted = [(p.key, value if p is found else p.value) for p in statement.pairs]
    return _checked(doc, statement, changes, wanted if found else [*wanted, (key, value)])


def unset_pair(doc: Document, statement: Statement, key: str) -> Changes:
    """Take a key off one line, with the blanks before it; the line goes too when nothing is left on it."""
    _check_owned(doc, statement)
    return _unset(doc, statement, [i for i, p in enumerate(statement.pairs) if p.key.lower() == key.lower()])


def replace_line(doc: Document, item: Statement | Include, line: str) -> Changes:
    """Put one line in the place of a statement or include and all its physical lines."""
    _check_owned(doc, item)
    check_line(line)
    end = item.end - len(break_at_end(doc.text[item.start : item.end]))
    old = doc.text[item.start : end]
    edit = Edit(doc.file, item.line, item.key, old, line)
    return () if old == line else (Change(item.start, end, line, edit),)


def remove_line(doc: Document, item: Statement | Include) -> Changes:
    """Remove a statement or include with all its physical lines."""
    _check_owned(doc, item)
    return (_removal(doc, item),)


def append_line(doc: Document, line: str) -> Changes:
    """Add one line at the end of the file."""
    check_line(line)
    key = next((s.key for s in read(line, "").statements), "")
    return (_added(doc, line, Edit(doc.file, _last_line(doc) + 1, key, None, line)),)


def apply_changes(text: str, changes: list[Change]) -> tuple[str, tuple[Edit, ...]]:
    """The text with all changes made, and the edits in the order of the text.

    Of two changes of the very same span the later one counts; any other overlap is a ValueError.
    """
    spans: list[Change] = []
    for change in sorted((c for c in changes if not c.new_line), key=lambda c: (c.start, c.end)):
        before = spans[-1] if spans else None
        if before and change.start < before.end:
            if (change.start, change.end) != (before.start, before.end):
                raise ValueError(f"changes overlap: {before.edit} and {change.edit}")
            spans.pop()
        spans.append(change)
    parts: list[str] = []
    at = 0
    for change in spans:
        parts += (text[at : change.start], change.text)
        at = change.end
    result = "".join(parts) + text[at:]
    added = [c for c in changes if c.new_line]
    if added:
        result += lead(result, line_break(text)) + "".join(c.text for c in added)
    return result, tuple(c.edit for c in [*spans, *added] if c.edit)


def _set_value(doc: Document, pair: Pair, value: str) -> Changes:
    if pair.value == value:
        return ()
    quoted = doc.text[pair.value_start] == '"' and not pair.value.startswith('"')
    edit = Edit(doc.file, pair.line, pair.key, pair.value, value)
    return (Change(pair.value_start, pair.end, value_text(pair.key, value, quoted), edit),)


def _unset(doc: Document, statement: Statement, which: list[int]) -> Changes:
    pairs = statement.pairs
    if not which:
        return ()
    if len(which) == len(pairs) and not _outside(doc, statement).strip(BLANKS + "\\"):
        whole = _removal(doc, statement)
        gone = pairs[which[-1]]
        return (whole._replace(edit=Edit(doc.file, gone.line, gone.key, gone.value, None)),)
    spans: list[tuple[int, int]] = []
    for start, end in (_cut(doc, statement, i) for i in which):
        if spans and start < spans[-1][1]:
            start, end = spans.pop()[0], max(end, start)
        spans.append((start, end))
    gone = pairs[which[-1]]
    edit = Edit(doc.file, gone.line, gone.key, gone.value, None)
    changes = tuple(Change(lo, hi, "", None if n else edit) for n, (lo, hi) in enumerate(spans))
    kept = [(p.key, p.value) for i, p in enumerate(pairs) if i not in which]
    return _checked(doc, statement, changes, kept)


def _cut(doc: Document, statement: Statement, index: int) -> tuple[int, int]:
    """The span of a pair and the gap that goes with it; a comment in the gap (a continued line's) stays."""
    pairs, pair = statement.pairs, statement.pairs[index]
    if index == 0 and len(pairs) > 1:
        after = pairs[1].start
        return pair.start, pair.end if "#" in doc.text[pair.end : after] else after
    start = pairs[index - 1].end if index else statement.start
    gap = doc.text[start : pair.start]
    return start + (gap.rfind("\n") + 1 if "#" in gap else 0), pair.end


def _outside(doc: Document, statement: Statement) -> str:
    ends = [statement.start, *(p.end for p in statement.pairs)]
    starts = [*(p.start for p in statement.pairs), statement.end]
    return "".join(doc.text[lo:hi] for lo, hi in zip(ends, starts, strict=True))


def _checked(doc: Document, statement: Statement, changes: Changes, wanted: list[tuple[str, str]]) -> Changes:
    """Refuse a change by which a quote that the line leaves open would close and swallow other pairs."""
    if not any(p.value.startswith('"') for p in statement.pairs):
        return changes
    shift = statement.start
    line = doc.text[statement.start : statement.end]
    moved = [c._replace(start=c.start - shift, end=c.end - shift) for c in changes]
    after = read(apply_changes(line, moved)[0], "").statements
    if [(p.key, p.value) for s in after for p in s.pairs] == wanted:
        return changes
    raise InputError.of(
        "a double quote is not closed on this line, so it cannot be edited; close the quote first",
        doc.file,
        statement.line,
    )


def _removal(doc: Document, item: Statement | Include) -> Change:
    old = doc.text[item.start : item.end]
    edit = Edit(doc.file, item.line, item.key, old[: len(old) - len(break_at_end(old))], None)
    return Change(item.start, item.end, "", edit)


def _added(doc: Document, line: str, edit: Edit) -> Change:
    end = len(doc.text)
    return Change(end, end, line + line_break(doc.text), edit, new_line=True)


def _check_owned(doc: Document, item: Statement | Include) -> None:
    among: tuple[Statement, ...] | tuple[Include, ...]
    among = doc.includes if isinstance(item, Include) else doc.statements
    at = bisect_left(among, item.start, key=lambda one: one.start)
    if at == len(among) or among[at] != item:
        raise ValueError("the statement belongs to another document; look it up again after an edit")


def _last_line(doc: Document) -> int:
    return doc.text.count("\n") + (not doc.text.endswith("\n") and doc.text != "")
