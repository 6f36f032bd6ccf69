"""`gpu[01-04,07]` and `/dev/nvidia[0-3]` to every name, as Slurm's host lists expand them.

Brackets hold numbers and spans; several may stand in one name; the first number of a span sets the width.
"""

from __future__ import annotations

import itertools
import math
import re

_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_SPAN = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?\Z", re.ASCII)
#: A longer text than this is no list that anybody wrote.
MAX_TEXT = 200_000


def expand_brackets(text: str, most: int) -> tuple[str, ...]:
    """Every name in written order; nothing where a range cannot be read or holds more than `most` names."""
    if "[" not in text and "]" not in text and "," not in text:
        return (text.strip(),) if text.strip() else ()
    if len(text) > MAX_TEXT or text.count("[") > most:
        return ()
    found: list[str] = []
    for part in _split(text):
        pieces = _BRACKETS.split(part.strip())
        if any(mark in literal for literal in pieces[::2] for mark in "[]"):
            return ()
        axes = [[piece] if at % 2 == 0 else _span_texts(piece, most) for at, piece in enumerate(pieces)]
        size = math.prod(map(len, axes))
        if size == 0 or size + len(found) > most:
            return ()
        found += filter(None, map("".join, itertools.product(*axes)))
    return tuple(found)


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside brackets."""
    parts: list[str] = []
    depth = start = 0
    for match in re.finditer(r"[\[\],]", text):
        if match[0] != ",":
            depth += 1 if match[0] == "[" else -1
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [*parts, text[start:]]


def _span_texts(text: str, most: int) -> list[str]:
    """`08-10` → ["08", "09", "10"]; empty where it is no span."""
    found: list[str] = []
    for span in text.split(","):
        match = _SPAN.match(span)
        if not match:
            return []
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first + len(found) > most:
            return []
        width = len(match[1])
        found += [f"{number:0{width}d}" for number in range(first, last + 1)]
    return found
