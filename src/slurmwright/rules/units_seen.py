"""A systemd unit to its settings with their lines; sections are left out, since no key here is in two of
them."""

from __future__ import annotations


def unit_settings(text: str) -> dict[str, list[tuple[str, int]]]:
    """Every value of every key, in order, with its line."""
    found: dict[str, list[tuple[str, int]]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        key, equals, value = line[:4000].strip().partition("=")
        if equals and not key.startswith(("#", ";")):
            found.setdefault(key.strip(), []).append((value.strip(), number))
    return found
