"""NodeName and PartitionName lines to nodes with their CPU layout, memory and GRES, DEFAULT lines applied.

What surprises: `gpu:8:1` is one GPU of the type "8"; a number alone behind the name is the count.
Source: Slurm's man page slurm.conf(5), Gres=; src/interfaces/gres.c.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from slurmwright.conf import Document, EffectiveLine, Tree
from slurmwright.core.hosts import MAX_HOSTS
from slurmwright.rules.brackets import expand_brackets
from slurmwright.rules.rule import Place

#: A longer Gres= than this is no list that anybody wrote; reading it would take its square.
MAX_GRES = 20_000

_NUMBER = re.compile(r"\d{1,18}\Z", re.ASCII)
_COUNT = re.compile(r"(\d{1,18})([kmgtpKMGTP]?)\Z", re.ASCII)
_HOST = re.compile(r"[\w.-]+\Z", re.ASCII)
_POWERS = {letter: 1024**n for n, letter in enumerate(" kmgtp") if n}


class Gres(NamedTuple):
    """One entry of `Gres=`: name, type (empty without one), count; `written` is its text."""

    name: str
    type: str
    number: int
    written: str


class CpuShape(NamedTuple):
    """Sockets, cores of a socket and threads of a core, as Slurm works them out of a node line."""

    sockets: int
    cores: int
    threads: int

    @property
    def all_cores(self) -> int:
        return self.sockets * self.cores


@dataclass(frozen=True, eq=False)
class RecordLine:
    """One line of slurm.conf that describes something; `values` has the pairs of DEFAULT lines too."""

    doc: Document
    line: EffectiveLine
    values: Mapping[str, str]

    @property
    def place(self) -> Place:
        return Place(self.doc.file, self.line.statement.line)

    @property
    def written(self) -> str:
        """The name part as it stands in the file."""
        return self.line.statement.pairs[0].value

    def text(self, *keys: str) -> str:
        """The value of the first of these keys that the line has; empty without one."""
        for key in keys:
            found = self.values.get(key.lower())
            if found is not None:
                return found
        return ""

    def number(self, *keys: str) -> int | None:
        """The same as a whole number, or None."""
        return whole_number(self.text(*keys))

    def line_of(self, key: str) -> Place:
        """Where a key of this line stands; continued lines have several physical ones."""
        own = self.line.statement.get(key)
        return Place(self.doc.file, own.line) if own else self.place


@dataclass(frozen=True, eq=False)
class NodeLine(RecordLine):
    """One NodeName line; `names` are empty where the range cannot be read.

    `shape` is None where the line gives no layout, or nothing that can be read.
    """

    names: tuple[str, ...]
    gres: tuple[Gres, ...]
    shape: CpuShape | None

    def gres_named(self, name: str) -> tuple[Gres, ...]:
        return tuple(one for one in self.gres if one.name == name)

    def count(self, name: str) -> int:
        """How many of a GRES the node has in all."""
        return sum([one.number for one in self.gres if one.name == name])

    @property
    def is_real(self) -> bool:
        """Will a machine stand behind this line? Not behind FUTURE ones."""
        return not self.text("State").upper().startswith("FUTURE")


@dataclass(frozen=True, eq=False)
class PartitionLine(RecordLine):
    """One PartitionName line."""

    @property
    def name(self) -> str:
        return self.written


def node_lines(tree: Tree | None) -> tuple[NodeLine, ...]:
    """Every NodeName line of a slurm.conf; beyond MAX_HOSTS nodes lines name nobody."""
    found: list[NodeLine] = []
    total = 0
    for doc, line in tree.records("NodeName") if tree else ():
        values = _values(line)
        names = hosts(line.statement.pairs[0].value) if total <= MAX_HOSTS else ()
        total += len(names)
        layout = cpu_shape(*(values.get(key, "") for key in _LAYOUT))
        found.append(NodeLine(doc, line, values, names, parse_gres(values.get("gres", "")), layout))
    return tuple(found)


_LAYOUT = ("cpus", "procs", "boards", "socketsperboard", "sockets", "corespersocket", "threadspercore")


def _values(line: EffectiveLine) -> dict[str, str]:
    found = {pair.key.lower(): pair.value for pair in line.inherited}
    found.update((pair.key.lower(), pair.value) for pair in line.statement.pairs)
    return found


def whole_number(text: str) -> int | None:
    """`0` to 18 digits as a number, or None."""
    return int(text) if _NUMBER.match(text) else None


@lru_cache(maxsize=256)
def cpu_shape(
    cpus: str, procs: str, boards: str, per_board: str, sockets: str, cores: str, threads: str
) -> CpuShape | None:
    """The layout of a node line's values, kept for the next line with the same ones.

    As src/common/read_config.c (_parse_nodename) works it out: CPUs alone are that many sockets of one core.
    """
    if not any((cpus, procs, per_board, sockets, cores)):
        return None
    all_cpus = whole_number(cpus or procs)
    each_core, each_thread = whole_number(cores) or 1, whole_number(threads) or 1
    count = whole_number(sockets)
    if whole_number(per_board) is not None:
        count = (whole_number(boards) or 1) * (whole_number(per_board) or 0)
    if count is None:
        each = each_core * each_thread
        divides = all_cpus and all_cpus >= each and all_cpus % each == 0
        count = all_cpus // each if all_cpus and divides else whole_number(boards) or 1
    return CpuShape(count, each_core, each_thread) if count else None


def partition_lines(tree: Tree | None) -> tuple[PartitionLine, ...]:
    """Every PartitionName line of a slurm.conf."""
    records = tree.records("PartitionName") if tree else ()
    return tuple(PartitionLine(doc, line, _values(line)) for doc, line in records)


def hosts(text: str) -> tuple[str, ...]:
    """A host range, or nothing where it is none; that is another rule's matter.

    Slurm takes more than DNS does, underscores for instance.
    """
    found = expand_brackets(text, MAX_HOSTS)
    return found if all(map(_HOST.match, found)) else ()


@lru_cache(maxsize=256)
def parse_gres(text: str) -> tuple[Gres, ...]:
    """`gpu:h100:8,shard:64` → its entries; socket lists such as `(S:0-1)` are taken off."""
    found: list[Gres] = []
    for part in re.split(r",(?![^()]*\))", text[:MAX_GRES]):
        written = part.strip()
        words = [word for word in re.sub(r"\(.*?\)", "", written).split(":") if word.lower() != "no_consume"]
        if not words or not words[0]:
            continue
        count = _COUNT.match(words[-1]) if len(words) > 1 else None
        number = int(count[1]) * _POWERS.get(count[2].lower(), 1) if count else 1
        kind = ":".join(words[1:-1] if count else words[1:])
        found.append(Gres(words[0].lower(), kind, number, written))
    return tuple(found)
