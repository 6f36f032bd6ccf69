"""Two texts to the lines that differ, as a person reads them."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

#: A person reads so many lines; the rest is counted.
_MOST_LINES = 20


def difference(old: str, new: str) -> Iterator[str]:
    """`-KillWait=30`, `+KillWait=60`: the lines that differ, without those around them."""
    rows = difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=0)
    found = [row for row in rows if row[:1] in "+-" and row[:3] not in ("---", "+++")]
    yield from found[:_MOST_LINES]
    if len(found) > _MOST_LINES:
        yield f"and {len(found) - _MOST_LINES} lines more"
