"""Streams of log lines to the few that the catalogue knows, in memory that does not grow with the log.

Of each kind of line the first few are kept, the last one, and how many there were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import BinaryIO

from slurmwright.catalogue.log_signs import LogSign, Source, log_signs
from slurmwright.core.blocks import line_blocks

Encoded = tuple[tuple[LogSign, tuple[bytes, ...]], ...]
BLOCK = 1 << 20
_LONGEST = 4 * BLOCK
_SHOWN = 400
_KEPT = 8


@dataclass(frozen=True)
class Hit:
    """One line of a kind; `text` may stand in a report: printable, and short."""

    sign: str
    file: str
    line: int
    text: str
    parts: tuple[tuple[str, str], ...]
    count: int = 1

    def part(self, name: str) -> str:
        return dict(self.parts).get(name, "")

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def printable(text: str, longest: int = _SHOWN) -> str:
    """Text of a host as it may reach a terminal: no control character, no change of direction, and short."""
    text = text.strip()
    plain = (
        text
        if text.isprintable()
        else "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
    )
    return plain if len(plain) <= longest else plain[: longest - 1] + "…"


def scan(stream: BinaryIO, file: str, sources: Iterable[Source]) -> tuple[Hit, ...]:
    """The lines of one log that say something, in their order; a daemon that has started again has overcome
    what hindered it."""
    signs = _of(frozenset(sources))
    kept: dict[str, list[Hit]] = {}
    startup = {sign.name for sign, _ in signs if sign.startup}
    every = tuple(dict.fromkeys(text for _, texts in signs for text in texts))
    for number, line in _lines(stream, every):
        sign, parts = _first(signs, line)
        if sign is None:
            continue
        if sign.over:
            kept = {name: hits for name, hits in kept.items() if name not in startup}
            continue
        text = printable(line[: 4 * _SHOWN].decode(errors="replace"))
        hit = Hit(sign.name, file, number, text, tuple(parts.items()))
        own = kept.setdefault(sign.name, [])
        if len(own) < _KEPT:
            own.append(hit)
        else:
            own[-1] = replace(hit, count=own[-1].count + 1)
    return tuple(sorted((hit for hits in kept.values() for hit in hits), key=lambda hit: hit.line))


def _first(signs: Encoded, line: bytes) -> tuple[LogSign | None, dict[str, str]]:
    for sign, texts in signs:
        if any(text in line for text in texts):
            parts = sign.fit(line)
            if parts is not None:
                return sign, parts
    return None, {}


@cache
def _of(sources: frozenset[Source]) -> Encoded:
    """The signs that count there, each with its texts as a log has them."""
    return tuple(
        (sign, tuple(text.encode() for text in sign.any))
        for sign in log_signs()
        if sources & set(sign.sources)
    )


def _lines(stream: BinaryIO, texts: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """Number and line of each that holds one of the texts, each once."""
    number = 1
    for block in line_blocks(stream, BLOCK, _LONGEST):
        at = 0
        for start, end in sorted({place for text in texts for place in _places(block, text)}):
            number += block.count(b"\n", at, start)
            at = start
            yield number, block[start : min(end, start + 8 * _SHOWN)].rstrip(b"\r")
        number += block.count(b"\n", at)


def _places(block: bytes, text: bytes) -> Iterator[tuple[int, int]]:
    at = block.find(text)
    while at >= 0:
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
        end = len(block) if end < 0 else end
        yield start, end
        at = block.find(text, end)
