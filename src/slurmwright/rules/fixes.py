"""What rules would repair to the new texts of files, and to the diff that a person sees first.

Repairs of one file are made in one pass; of two that touch the same place the first one counts, and the
next run of lint finds what is left.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

from slurmwright.conf import Document
from slurmwright.conf.changes import Change
from slurmwright.core.errors import InputError
from slurmwright.rules.runner import Judged


def fixed_texts(judged: Iterable[Judged]) -> dict[str, tuple[str, str]]:
    """Old and new text of every file that a repair changes, by its path on the host."""
    documents: dict[str, Document] = {}
    changes: dict[str, list[Change]] = {}
    for one in judged:
        if one.repair is None:
            continue
        doc = documents.setdefault(one.repair.doc.file, one.repair.doc)
        made = changes.setdefault(doc.file, [])
        if doc.text == one.repair.doc.text and _fits(made, one.repair.changes):
            made += one.repair.changes
    found: dict[str, tuple[str, str]] = {}
    for path, made in changes.items():
        try:
            new = documents[path].apply(made).text
        except (InputError, ValueError):
            continue
        if new != documents[path].text and _is_utf8(new):
            found[path] = documents[path].text, new
    return found


def diff(texts: Mapping[str, tuple[str, str]], shown: Mapping[str, str]) -> str:
    """A unified diff of all files, as `diff -u` prints it."""
    parts: list[str] = []
    for path, (old, new) in sorted(texts.items()):
        name = shown.get(path, path)
        lines = difflib.unified_diff(
            old.splitlines(keepends=True), new.splitlines(keepends=True), name, f"{name} (fixed)"
        )
        parts += [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
        ]
    return "".join(parts)


def _is_utf8(text: str) -> bool:
    """Can the text be written again as it was read? Bytes of other encodings cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fits(made: list[Change], more: Iterable[Change]) -> bool:
    """Does none of the new changes touch a place that is changed already, or add the same line again?"""
    for new in more:
        for old in made:
            if new.new_line and old.new_line:
                if new.text == old.text:
                    return False
            elif not new.new_line and not old.new_line and new.start < old.end and old.start < new.end:
                return False
    return True
