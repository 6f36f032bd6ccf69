"""Replaces serials, MACs, GUIDs and UUIDs in captured output by stand-ins; equal ones stay equal."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

_HEX = "[0-9a-fA-F]"
_UUID = rf"{_HEX}{{8}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{4}}-{_HEX}{{12}}"
#: What is found → what stands for the Nth of its kind.
_KINDS: tuple[tuple[re.Pattern[str], Callable[[int], str]], ...] = (
    (re.compile(_UUID), lambda at: f"00000000-0000-0000-0000-{at:012x}"),
    (
        re.compile(rf"(?<![\w:])(?:{_HEX}{{2}}:){{7,19}}{_HEX}{{2}}(?![\w:])"),
        lambda at: f"02:00:00:00:00:00:00:{at:02x}",
    ),
    (
        re.compile(rf"(?<![\w:.])(?:{_HEX}{{2}}:){{5}}{_HEX}{{2}}(?![\w:.])"),
        lambda at: f"02:00:00:00:{at >> 8:02x}:{at & 255:02x}",
    ),
    (
        re.compile(rf"(?<![\w:])(?:{_HEX}{{4}}:){{7}}{_HEX}{{4}}(?![\w:])"),
        lambda at: f"fe80:0000:0000:0000:0000:0000:0000:{at:04x}",
    ),
    (
        re.compile(rf"(?<![\w:])(?:{_HEX}{{4}}:){{3}}{_HEX}{{4}}(?![\w:])"),
        lambda at: f"feed:0000:0000:{at:04x}",
    ),
    (
        re.compile(
            r"(?im)^(?P<keep>.*\b(?:serial(?: number)?|(?:node|sys|port)[ _]?guid|board id|gpu pdi)\b"
            r"\s*[:=]\s*)"
            r"(?P<own>\S.*?)(?=\s*$)"
        ),
        lambda at: f"removed-{at}",
    ),
    (
        re.compile(
            r"(?i)(?P<keep><info name=\"[^\"]*(?:serial|uuid|guid|address)[^\"]*\" value=\")(?P<own>[^\"]+)"
        ),
        lambda at: f"removed-{at}",
    ),
)


class Scrubber:
    """One for a whole bundle, so that the same number gets the same stand-in in every file."""

    def __init__(self) -> None:
        self._known: list[dict[str, str]] = [{} for _ in _KINDS]

    def scrub(self, text: str) -> str:
        """The text without them."""
        for (pattern, stand_in), known in zip(_KINDS, self._known, strict=True):
            text = pattern.sub(partial(_replace, stand_in, known), text)
        return text


def _replace(stand_in: Callable[[int], str], known: dict[str, str], found: re.Match[str]) -> str:
    groups = found.groupdict()
    own = groups.get("own") or found[0]
    if own.strip("0:-") == "" or own in ("N/A", "[N/A]"):
        return found[0]
    return (groups.get("keep") or "") + known.setdefault(own.lower(), stand_in(len(known) + 1))
