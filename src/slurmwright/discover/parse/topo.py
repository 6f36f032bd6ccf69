"""Turns `nvidia-smi topo -m` of any driver into GPUs, NICs and the links between them, or refuses it.

Inside a job the affinities show only the job's CPUs, so they are handed on as text and never believed. The
matrix is held against itself: X on the diagonal, the same link in both directions, NVLink between GPUs only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.discover.parse.lines import Text, shown
from slurmwright.discover.parse.topo_grid import AFFINITIES, Cell, Grid, Row, read_grid

#: SOC is the word of drivers before R384 for what is SYS today.
_LINK = re.compile(r"(X|SYS|NODE|PHB|PXB|PIX|SOC|NV[1-9]\d{0,2})\Z", re.ASCII)
_AFFINITY = re.compile(r"(N/A|[0-9][0-9,\-]*(\.\.\.)?)\Z", re.ASCII)
_GPU = re.compile(r"GPU(\d{1,3})\Z", re.ASCII)
_NIC = re.compile(r"NIC(\d{1,3})\Z", re.ASCII)
_LEGEND = re.compile(r"\s*(NIC\d{1,3})\s*:\s*(\S+)\s*\Z", re.ASCII)
_STRAY = re.compile(r"\s*(?:GPU|NIC)\d+\s+\S", re.ASCII)


@dataclass(frozen=True)
class TopoGpu:
    """A GPU of the matrix; the affinities are the text of the columns, None where blank or absent."""

    name: str
    cpu_affinity: str | None
    numa: str | None
    gpu_numa: str | None


@dataclass(frozen=True)
class TopoNic:
    """A NIC of the matrix and its device; None where the legend does not tell it."""

    name: str
    device: str | None


@dataclass(frozen=True)
class Topo:
    """The whole matrix; `links` holds every pair in both directions."""

    gpus: tuple[TopoGpu, ...]
    nics: tuple[TopoNic, ...]
    links: dict[str, dict[str, str]]


def parse(text: str, name: str) -> Topo:
    """Raises InputError with line and column where the text can be read in more than one way."""
    source = Text.of(text, name)
    grid = read_grid(source)
    _check_names(source, grid)
    _check_cells(source, grid)
    _check_against_itself(source, grid)
    names = [cell.text for cell in grid.devices]
    links = {
        row.name.text: {
            other: cell.text for other, cell in zip(names, row.cells, strict=False) if cell.text != "X"
        }
        for row in grid.rows
    }
    gpus = tuple(_gpu(source, grid, row) for row in grid.rows if _GPU.match(row.name.text))
    return Topo(gpus, tuple(_nics(source, grid)), links)


def _check_names(text: Text, grid: Grid) -> None:
    """Every column has its row, in the same order, and no number is left out."""
    for pattern, noun in ((_GPU, "GPU"), (_NIC, "NIC")):
        numbered = [(int(found[1]), cell) for cell in grid.devices if (found := pattern.match(cell.text))]
        for expected, (number, cell) in enumerate(numbered):
            if number != expected:
                text.refuse(f"column {noun}{expected} is missing before {cell.text}", grid.line, cell.column)
    rows = [row.name.text for row in grid.rows]
    for at, cell in enumerate(grid.devices):
        if cell.text not in rows:
            text.refuse(
                f"column {cell.text} has no row: {len(rows)} rows for {len(grid.devices)} devices",
                grid.end,
                cell.column,
            )
        if rows[at] != cell.text:
            row = grid.rows[at]
            text.refuse(f"row {row.name.text} where {cell.text} was expected", row.line, row.name.column)
    if len(rows) > len(grid.devices):
        extra = grid.rows[len(grid.devices)]
        text.refuse(f"row {extra.name.text} stands twice", extra.line, extra.name.column)


def _check_cells(text: Text, grid: Grid) -> None:
    """Each cell of the matrix is one link."""
    for row in grid.rows:
        for at, column in enumerate(grid.devices):
            if at >= len(row.cells) or not row.cells[at].text:
                after = row.cells[at - 1] if 0 < at <= len(row.cells) else row.name
                _refuse_short(text, row, at, column, after)
            cell = row.cells[at]
            if not _LINK.match(cell.text):
                text.refuse(
                    f"'{shown(cell.text)}' in column {column.text} of {row.name.text} is no link; expected "
                    "X, SYS, NODE, PHB, PXB, PIX or NV and a number (are two cells glued?)",
                    row.line,
                    cell.column,
                )


def _refuse_short(text: Text, row: Row, at: int, column: Cell, after: Cell) -> None:
    text.refuse(
        f"row {row.name.text} ends after {at} cells; the one of column {column.text} is missing",
        row.line,
        after.column,
    )


def _check_against_itself(text: Text, grid: Grid) -> None:
    for at, row in enumerate(grid.rows):
        for other, cell in enumerate(row.cells[: len(grid.devices)]):
            one, two = row.name.text, grid.devices[other].text
            if (cell.text == "X") != (at == other):
                expected = "X" if at == other else "a link"
                text.refuse(
                    f"{one} to {two} is {cell.text}; expected {expected} there", row.line, cell.column
                )
            back = grid.rows[other].cells[at].text
            if back != cell.text:
                text.refuse(f"{one} to {two} is {cell.text} but back it is {back}", row.line, cell.column)
            if cell.text.startswith("NV") and not (_GPU.match(one) and _GPU.match(two)):
                text.refuse(f"{one} to {two} is {cell.text}; NVLink joins GPUs only", row.line, cell.column)


def _gpu(text: Text, grid: Grid, row: Row) -> TopoGpu:
    values = _affinities(text, grid, row)
    cpu, numa, own = (values.get(name) for name in AFFINITIES)
    return TopoGpu(row.name.text, cpu, numa, own)


def _affinities(text: Text, grid: Grid, row: Row) -> dict[str, str | None]:
    """By column. The program writes two tabs before GPU NUMA ID: a blank cell without a column is passed."""
    cells = list(row.cells[len(grid.devices) :])
    names = [cell.text for cell in grid.affinities]
    if len(cells) == len(names) + 1 and names[-1:] == [AFFINITIES[2]] and not cells[-2].text:
        del cells[-2]
    while len(cells) > len(names) and not cells[-1].text:
        cells.pop()
    if len(cells) != len(names):
        last = cells[-1] if cells else row.cells[-1]
        text.refuse(
            f"row {row.name.text} has {len(cells)} cells beside the matrix for the {len(names)} columns "
            f"{', '.join(names) or 'that are none'}; which is which cannot be told",
            row.line,
            last.column,
        )
    for cell in cells:
        if cell.text and not _AFFINITY.match(cell.text):
            text.refuse(f"'{shown(cell.text)}' is no list of CPUs or NUMA nodes", row.line, cell.column)
    return {name: cell.text or None for name, cell in zip(names, cells, strict=True)}


def _nics(text: Text, grid: Grid) -> Iterator[TopoNic]:
    legend = _legend(text, grid)
    for row in grid.rows:
        name = row.name.text
        if _GPU.match(name):
            continue
        for cell in row.cells[len(grid.devices) :]:
            if cell.text:
                text.refuse(f"row {name} has '{shown(cell.text)}' beside the matrix", row.line, cell.column)
        yield TopoNic(name, legend.get(name) if _NIC.match(name) else name)


def _legend(text: Text, grid: Grid) -> dict[str, str]:
    names = {cell.text for cell in grid.devices}
    found: dict[str, str] = {}
    for number, line in list(enumerate(text.lines, 1))[grid.end :]:
        entry = _LEGEND.match(line)
        if not entry:
            if _STRAY.match(line) and ":" not in line:
                text.refuse("a row of the matrix stands apart from it", number, 1)
            continue
        nic, device = entry.groups()
        if nic not in names:
            text.refuse(f"the legend names {nic}, which is no column; columns are cut off", number, 1)
        if nic in found or device in found.values():
            text.refuse(f"{nic}: {shown(device)} stands twice in the legend", number, 1)
        found[nic] = device
    return found
