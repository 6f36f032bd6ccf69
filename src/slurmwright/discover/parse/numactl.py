"""Turns `numactl -H` into NUMA nodes with CPUs, memory and distances; nodes of memory only have no CPUs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from slurmwright.core.cpu_list import MAX_CPU, fold_cpus, parse_cpus
from slurmwright.discover.parse.lines import Text, shown

_AVAILABLE = re.compile(r"available: (\d{1,5}) nodes? \(([\d,\-]+)\)\s*\Z", re.ASCII)
_CPUS = re.compile(r"node (\d{1,5}) cpus:((?: +\d{1,6})*)\s*\Z", re.ASCII)
_SIZE = re.compile(r"node (\d{1,5}) (size|free): (\d{1,9}) MB\s*\Z", re.ASCII)
_NUMBERS = re.compile(r"\d+", re.ASCII)
_DISTANCE = re.compile(r" *(\d{1,5}):((?: +\d{1,3})+)\s*\Z", re.ASCII)


@dataclass(frozen=True)
class NumactlNode:
    """A NUMA node: its CPUs as a list such as `0-15,128-143`, and its memory in numactl's MB, 2^20."""

    id: int
    cpus: str | None
    size_mb: int | None
    free_mb: int | None


@dataclass(frozen=True)
class Numactl:
    """All nodes, and `distances[i][j]` in the order of the nodes; None where the table was left out."""

    nodes: tuple[NumactlNode, ...]
    distances: tuple[tuple[int, ...], ...] | None


@dataclass
class _Seen:
    said: tuple[int, ...] | None = None
    columns: tuple[int, ...] | None = None
    cpus: dict[int, str | None] = field(default_factory=dict)
    memory: dict[tuple[int, str], int] = field(default_factory=dict)
    rows: dict[int, tuple[int, ...]] = field(default_factory=dict)


def parse(text: str, name: str) -> Numactl:
    """Raises InputError for a line that numactl does not print, for cut lines and for a CPU in two nodes."""
    source = Text.of(text, name)
    seen = _Seen()
    for number, line in source.numbered():
        _take(source, seen, number, line)
    ids = tuple(sorted(seen.cpus))
    if not ids:
        source.refuse("no NUMA node is in it; expected lines such as 'node 0 cpus: 0 1 2'")
    if seen.said is not None and seen.said != ids:
        source.refuse(
            f"says nodes {fold_cpus(seen.said)} but shows {fold_cpus(ids)}; lines are cut off",
            len(source.lines),
        )
    _check_cpus(source, seen.cpus)
    nodes = tuple(
        NumactlNode(one, seen.cpus[one], seen.memory.get((one, "size")), seen.memory.get((one, "free")))
        for one in ids
    )
    return Numactl(nodes, _distances(source, ids, seen.columns, seen.rows))


def _take(text: Text, seen: _Seen, number: int, line: str) -> None:
    if found := _AVAILABLE.match(line):
        try:
            seen.said = parse_cpus(found[2])
        except ValueError:
            text.refuse(f"'{shown(found[2])}' is no list of nodes", number, found.start(2) + 1)
        if len(seen.said) != int(found[1]):
            text.refuse(f"says {found[1]} nodes but lists {len(seen.said)}", number, found.start(1) + 1)
    elif found := _CPUS.match(line):
        if int(found[1]) in seen.cpus:
            text.refuse(f"node {found[1]} stands twice", number, found.start(1) + 1)
        cpus = [int(cpu) for cpu in _NUMBERS.findall(found[2])]
        if any(cpu > MAX_CPU for cpu in cpus):
            text.refuse(f"a CPU above {MAX_CPU} is none", number, found.start(2) + 1)
        seen.cpus[int(found[1])] = fold_cpus(cpus) if cpus else None
    elif found := _SIZE.match(line):
        key = (int(found[1]), found[2])
        if key in seen.memory:
            text.refuse(f"the {found[2]} of node {found[1]} stands twice", number, 1)
        seen.memory[key] = int(found[3])
    elif line.startswith("node ") and not line[5:].replace(" ", "").strip("0123456789"):
        seen.columns = tuple(int(one) for one in _NUMBERS.findall(line)[:MAX_CPU] if len(one) < 6)
    elif found := _DISTANCE.match(line):
        seen.rows[int(found[1])] = tuple(int(one) for one in _NUMBERS.findall(found[2]))
    elif line.strip() != "node distances:":
        text.refuse(f"'{shown(line.strip())}' is no line of `numactl -H`", number, 1)


def _check_cpus(text: Text, nodes: dict[int, str | None]) -> None:
    owner: dict[int, int] = {}
    for node, cpus in sorted(nodes.items()):
        for cpu in parse_cpus(cpus) if cpus else ():
            if owner.setdefault(cpu, node) != node:
                text.refuse(f"CPU {cpu} is in node {owner[cpu]} and in node {node}")


def _distances(
    text: Text, ids: tuple[int, ...], columns: tuple[int, ...] | None, rows: dict[int, tuple[int, ...]]
) -> tuple[tuple[int, ...], ...] | None:
    if columns is None and not rows:
        return None
    whole = (
        columns == ids and tuple(sorted(rows)) == ids and all(len(row) == len(ids) for row in rows.values())
    )
    if not whole:
        text.refuse("the table of distances does not have a row and a column for each node", len(text.lines))
    return tuple(rows[one] for one in ids)
