"""NodeName and PartitionName lines to nodes with their CPU layout, memory and GRES, DEFAULT lines applied.

What surprises: `gpu:8:1` is one GPU of the type "8"; a number alone behind the name is the count.
Source: Slurm's man page slurm.conf(5), Gres=; src/interfaces/gres.c.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from slurmwright.conf import Document, EffectiveLine, Pair, Tree
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


@dataclass(frozen=True)
class RecordLine:
    """One line of slurm.conf that describes something, with the pairs of DEFAULT lines."""

    doc: Document
    line: EffectiveLine

    @property
    def place(self) -> Place:
        return Place(self.doc.file, self.line.statement.line)

    @property
    def written(self) -> str:
        """The name part as it stands in the file."""
        return self.line.statement.pairs[0].value

    @cached_property
    def _values(self) -> dict[str, Pair]:
        found = {pair.key.lower(): pair for pair in self.line.inherited}
        found.update((pair.key.lower(), pair) for pair in self.line.statement.pairs)
        return found

    def text(self, *keys: str) -> str:
        """The value of the first of these keys that the line has; empty without one."""
        return next((found.value for key in keys if (found := self._values.get(key.lower()))), "")

    def number(self, *keys: str) -> int | None:
        """The same as a whole number, or None."""
        text = self.text(*keys)
        return int(text) if _NUMBER.match(text) else None

    def line_of(self, key: str) -> Place:
        """Where a key of this line stands; continued lines have several physical ones."""
        own = self.line.statement.get(key)
        return Place(self.doc.file, own.line) if own else self.place


@dataclass(frozen=True)
class NodeLine(RecordLine):
    """One NodeName line."""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The nodes; empty where the range cannot be read."""
        return hosts(self.written)

    @cached_property
    def gres(self) -> tuple[Gres, ...]:
        return parse_gres(self.text("Gres"))

    def gres_named(self, name: str) -> tuple[Gres, ...]:
        return tuple(one for one in self.gres if one.name == name)

    def count(self, name: str) -> int:
        """How many of a GRES the node has in all."""
        return sum(one.number for one in self.gres if one.name == name)

    @property
    def is_real(self) -> bool:
        """Will a machine stand behind this line? Not behind FUTURE ones."""
        return not self.text("State").upper().startswith("FUTURE")

    @cached_property
    def shape(self) -> CpuShape | None:
        """The layout that the line gives; None where it gives none, or nothing that can be read.

        As src/common/read_config.c (_parse_nodename) works it out: CPUs alone are that many sockets of one
        core.
        """
        cpus = self.number("CPUs", "Procs")
        boards = self.number("Boards") or 1
        per_board, sockets = self.number("SocketsPerBoard"), self.number("Sockets")
        cores, threads = self.number("CoresPerSocket") or 1, self.number("ThreadsPerCore") or 1
        if per_board is not None:
            sockets = boards * per_board
        if sockets is None:
            each = cores * threads
            sockets = cpus // each if cpus and cpus >= each and cpus % each == 0 else boards
        given = ("CPUs", "Procs", "SocketsPerBoard", "Sockets", "CoresPerSocket")
        return CpuShape(sockets, cores, threads) if sockets and any(map(self.text, given)) else None


@dataclass(frozen=True)
class PartitionLine(RecordLine):
    """One PartitionName line."""

    @property
    def name(self) -> str:
        return self.written


def node_lines(tree: Tree | None) -> tuple[NodeLine, ...]:
    """Every NodeName line of a slurm.conf."""
    return tuple(NodeLine(doc, line) for doc, line in tree.records("NodeName")) if tree else ()


def partition_lines(tree: Tree | None) -> tuple[PartitionLine, ...]:
    """Every PartitionName line of a slurm.conf."""
    return tuple(PartitionLine(doc, line) for doc, line in tree.records("PartitionName")) if tree else ()


def hosts(text: str) -> tuple[str, ...]:
    """A host range, or nothing where it is none; that is another rule's matter.

    Slurm takes more than DNS does, underscores for instance.
    """
    found = expand_brackets(text, MAX_HOSTS)
    return found if all(map(_HOST.match, found)) else ()


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
