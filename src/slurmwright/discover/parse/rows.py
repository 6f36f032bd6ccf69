"""Turns lines of `KEY=VALUE KEY=VALUE`, as our own script prints them, into mappings."""

from __future__ import annotations


def rows_of(text: str) -> tuple[dict[str, str], ...]:
    """One mapping for each line that holds a pair; words without `=` are passed."""
    rows = (dict(word.split("=", 1) for word in line.split() if "=" in word) for line in text.splitlines())
    return tuple(row for row in rows if row)
