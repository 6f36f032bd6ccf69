"""Streams of log lines to the few lines that the catalogue knows, in memory that does not grow with the log.

A log of a big job has millions of lines and a few that matter. Plain texts are searched through whole blocks,
and only a line that holds one is looked at with a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import BinaryIO

from slurmwright.catalogue.nccl_faults import NcclFault, nccl_faults
from slurmwright.core.blocks import line_blocks
from slurmwright.nccl.log_behind import MARKS

BLOCK = 1 << 20
#: A longer line is cut: it is no line of NCCL's.
_LONGEST = 16 * BLOCK
_SHOWN = 2000
_WARN = b"NCCL WARN"
#: Lines that only tell who and what is there.
_ADAPTERS, _RANK, _P2P = b"NET/IB : Using", b" nranks ", b" via P2P"
_NOTES = (_ADAPTERS, _RANK, _P2P, *MARKS)


@dataclass(frozen=True)
class Hit:
    """A line worth reading: `fault` is None for a note about the job, and for a warning that nobody knows.

    `stamp` is the beginning of the last line with a time before it, for lines that carry none.
    """

    number: int
    line: bytes
    fault: NcclFault | None
    note: str = ""
    stamp: bytes = b""

    @property
    def torch(self) -> bool:
        """Does it tell how far PyTorch came?"""
        return any(mark in self.line for mark in MARKS)


@dataclass(frozen=True)
class Passed:
    """So many bytes of a file have been read."""

    size: int


def scan(stream: BinaryIO, faults: Sequence[NcclFault] = ()) -> Iterator[Hit | Passed]:
    """The hits of one log in the order of its lines; after each block how much was read."""
    faults = faults or nccl_faults()
    number, stamp = 1, b""
    for block in line_blocks(stream, BLOCK, _LONGEST):
        at = 0
        for start, end, fault, note in _found(block, faults):
            number += block.count(b"\n", at, start)
            at = start
            before = block.rfind(b"\n[20", 0, start)
            told = block[before + 1 : before + 40] if before >= 0 else stamp
            yield Hit(number, block[start : min(end, start + _SHOWN)], fault, note, told)
        number += block.count(b"\n", at)
        last = block.rfind(b"\n[20")
        stamp = block[last + 1 : last + 40] if last >= 0 else stamp
        yield Passed(len(block))


def _found(block: bytes, faults: Sequence[NcclFault]) -> list[tuple[int, int, NcclFault | None, str]]:
    """Start and end of each line that says something, with what it says; each line once."""
    lines: dict[int, tuple[int, NcclFault | None, str]] = {}
    for text, rows in _by_text(tuple(faults)).items():
        for start, end in _lines_with(block, text):
            line = block[start:end]
            fault = next((one for one in rows if one.fits(line)), None)
            if fault and start not in lines:
                lines[start] = (end, fault, "")
    for note in (*_NOTES, _WARN):
        for start, end in _lines_with(block, note):
            lines.setdefault(start, (end, None, note.decode().strip()))
            if note == _P2P:
                # One is enough to tell that GPUs reach each other; there is one for each channel and pair.
                break
    return [(start, *lines[start]) for start in sorted(lines)]


@cache
def _by_text(faults: tuple[NcclFault, ...]) -> dict[bytes, list[NcclFault]]:
    """Text → the faults whose lines hold it: several share one, and it is searched once."""
    rows: dict[bytes, list[NcclFault]] = {}
    for fault in faults:
        for text in fault.any:
            rows.setdefault(text.encode(), []).append(fault)
    return rows


def _lines_with(block: bytes, text: bytes) -> Iterable[tuple[int, int]]:
    at = block.find(text)
    while at >= 0:
        start, end = block.rfind(b"\n", 0, at) + 1, block.find(b"\n", at)
        end = len(block) if end < 0 else end
        yield start, end
        at = block.find(text, end)
