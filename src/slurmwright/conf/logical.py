r"""Text to the lines that Slurm sees: comments cut, continued lines joined, escapes removed, places kept.

What surprises: `#` begins a comment inside double quotes too (write `\#`); a comment line between continued
lines ends the continuation; `\ # comment` at the end of a line continues it. Only `\n` ends a line, and a NUL
byte hides the rest of its line. Source: Slurm's src/common/parse_config.c (_get_next_line), equal in 22.05 to
26.05.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

#: What isspace() takes in the C locale, which Slurm's daemons run in.
BLANKS = " \t\n\r\f\v"

_VISIBLE = re.compile(r"(?:[^\\#\0]+|\\[^\0])*\\?")
_PIECE = re.compile(r"[^\\]+|\\.?", re.DOTALL)


class Logical(NamedTuple):
    """One line as Slurm sees it; character i of `text` was written at starts[i]:ends[i]."""

    line: int
    start: int
    end: int
    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def logical_lines(text: str) -> Iterator[Logical]:
    """Every logical line, blank ones too; together they cover the text."""
    at, line = 0, 1
    while at < len(text):
        end = _line_end(text, at)
        raw = text[at:end]
        if "\\" in raw or "\0" in raw:
            found = _joined(text, at, line)
        else:
            visible = raw.partition("#")[0]
            shown = len(visible)
            found = Logical(line, at, end, visible, range(at, at + shown), range(at + 1, at + shown + 1))
        yield found
        line += text.count("\n", found.start, found.end)
        at = found.end


def continues(text: str, start: int, end: int) -> bool:
    """Does the physical line at start:end go on in the next one?"""
    return _continuation(text, start, _visible_end(text, start, end)) is not None


def _joined(text: str, at: int, line: int) -> Logical:
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    start, more = at, True
    while more and at < len(text):
        end = _line_end(text, at)
        visible = _visible_end(text, at, end)
        mark = _continuation(text, at, visible)
        for piece in _PIECE.finditer(text, at, visible if mark is None else mark):
            lo, hi = piece.span()
            if text[lo] == "\\":
                parts.append(piece[0][1:])
                starts.extend([lo] * (hi - lo - 1))
                ends.extend([hi] * (hi - lo - 1))
            else:
                parts.append(piece[0])
                starts.extend(range(lo, hi))
                ends.extend(range(lo + 1, hi + 1))
        at, more = end, mark is not None
    return Logical(line, start, at, "".join(parts), starts, ends)


def _line_end(text: str, at: int) -> int:
    return text.find("\n", at) + 1 or len(text)


def _visible_end(text: str, start: int, end: int) -> int:
    """Where the comment (or a NUL) begins, else the end of the line."""
    match = _VISIBLE.match(text, start, end)
    return match.end() if match else start


def _continuation(text: str, start: int, end: int) -> int | None:
    """The place of the backslash that continues the line, if an odd number of them ends it."""
    body = text[start:end].rstrip(BLANKS)
    slashes = len(body) - len(body.rstrip("\\"))
    return start + len(body) - 1 if slashes % 2 else None
