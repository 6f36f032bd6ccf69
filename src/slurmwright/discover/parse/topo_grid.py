"""Turns `nvidia-smi topo -m` into cells with their places: tabs, spaces or a Markdown table.

The program writes tabs; pastes have them as spaces, eight or fewer to a column, and then blank cells cannot
be seen. Tables of documentation have bars between the cells.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.discover.parse.lines import Text, shown

AFFINITIES = ("CPU Affinity", "NUMA Affinity", "GPU NUMA ID")

_DEVICE = re.compile(r"(GPU\d{1,3}|NIC\d{1,3}|[A-Za-z][\w.\-]*)\Z", re.ASCII)
_HEADER = re.compile(r"(?<!\S)GPU0")
_ROW = re.compile(r"\s*(?:GPU|NIC)\d+(?=\s)(?!\s*=)", re.ASCII)


@dataclass(frozen=True)
class Cell:
    """One cell, stripped, and the column at which it begins."""

    text: str
    column: int


@dataclass(frozen=True)
class Row:
    """One line of the matrix: its device and its cells."""

    line: int
    name: Cell
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """Header and rows. `devices` are the columns of the matrix, `affinities` those beside it."""

    line: int
    devices: tuple[Cell, ...]
    affinities: tuple[Cell, ...]
    rows: tuple[Row, ...]
    end: int


def read_grid(text: Text) -> Grid:
    """The grid of the first matrix in the text; `end` is the number of the last line that belongs to it."""
    line, header = _header(text)
    style = "|" if header.lstrip().startswith("|") else "\t" if "\t" in header else " "
    devices, affinities, before = _columns(text, line, header, style)
    rows = []
    end = line
    for number, row in list(enumerate(text.lines, 1))[line:]:
        if not row.strip():
            break
        if set(row.strip()) <= set("|-: "):
            continue
        found = _row(text, number, row, style, before)
        if not any(found.name.text == one.text for one in devices):
            if _ROW.match(row):
                text.refuse(
                    f"row {shown(found.name.text)} has no column of its own", number, found.name.column
                )
            break
        rows.append(found)
        end = number
    return Grid(line, devices, affinities, tuple(rows), end)


def _header(text: Text) -> tuple[int, str]:
    for number, line in text.numbered():
        if _HEADER.search(line):
            cells = line.replace("|", " ").split()
            if len(cells) > 1 and cells[0] == "GPU0" and not _DEVICE_COLUMN.match(cells[1]):
                text.refuse("begins with a row; the header line with the columns is cut off", number, 1)
            return number, line
    text.refuse("no matrix of `nvidia-smi topo -m` is in it: no header with GPU0 was found")


_DEVICE_COLUMN = re.compile(r"(GPU|NIC)\d+\Z|CPU\Z|[a-z]", re.ASCII)


def _split(line: str, style: str) -> Iterator[Cell]:
    """The cells of a line; with bars or tabs blank ones too."""
    if style == " ":
        pattern = re.compile(r"\S+")
        yield from (Cell(found[0], found.start() + 1) for found in pattern.finditer(line))
        return
    at = 0
    parts = line.split(style)
    for part in parts:
        lead = len(part) - len(part.lstrip())
        yield Cell(part.strip(), at + lead + 1)
        at += len(part) + 1


def _columns(
    text: Text, line: int, header: str, style: str
) -> tuple[tuple[Cell, ...], tuple[Cell, ...], int]:
    """Devices, affinity columns, and how many of the latter stand before the names of the rows."""
    merged = list(_named_columns(header)) if style == " " else [c for c in _split(header, style) if c.text]
    devices = [cell for cell in merged if cell.text not in AFFINITIES]
    affinities = [cell for cell in merged if cell.text in AFFINITIES]
    for cell in devices:
        if not _DEVICE.match(cell.text) or len(re.findall(r"(?:GPU|NIC)\d+|Affinity", cell.text)) > 1:
            text.refuse(
                f"column '{shown(cell.text)}' is no single device; its separators are lost", line, cell.column
            )
    names = [cell.text for cell in merged]
    for cell in merged:
        if names.count(cell.text) > 1:
            text.refuse(f"column {cell.text} stands twice", line, cell.column)
    first = next((at for at, cell in enumerate(merged) if cell.text not in AFFINITIES), 0)
    if first and style != "|":
        text.refuse("the affinities stand before the devices, which only a table has", line, merged[0].column)
    if any(cell.text in AFFINITIES for cell in merged[first : first + len(devices)]):
        text.refuse("an affinity stands between two devices", line, merged[first].column)
    return tuple(devices), tuple(affinities), first


def _named_columns(header: str) -> Iterator[Cell]:
    """Words, but the names of the affinities as one cell each."""
    pattern = re.compile("|".join([*(name.replace(" ", " +") for name in AFFINITIES), r"\S+"]))
    for found in pattern.finditer(header):
        yield Cell(" ".join(found[0].split()), found.start() + 1)


def _row(text: Text, number: int, line: str, style: str, before: int) -> Row:
    cells = tuple(_split(line, style))
    if style == "\t" and "\t" not in line:
        text.refuse("the header has tabs but this row has none; its cells are glued", number, 1)
    if style == "|":
        cells = cells[1 : -1 if not cells[-1].text else None]
        if len(cells) <= before:
            text.refuse("the row is cut off", number, len(line) + 1)
        return Row(number, cells[before], cells[before + 1 :] + cells[:before])
    return Row(number, cells[0], cells[1:])
