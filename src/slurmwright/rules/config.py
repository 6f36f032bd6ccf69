"""The files below /etc/slurm to what rules ask for: settings, words, nodes, partitions and device lines.

Everything is read when first asked for and kept, so that sixty rules parse a file once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from slurmwright.conf import Setting, Tree, read_tree
from slurmwright.rules.gres_lines import GresLine, gres_lines
from slurmwright.rules.node_lines import NodeLine, PartitionLine, node_lines, partition_lines
from slurmwright.rules.rule import Place

T = TypeVar("T")

FOLDER = "/etc/slurm"
#: The files that share one grammar, as they are called beside slurm.conf.
PLAIN_FILES = (
    "slurm.conf",
    "gres.conf",
    "cgroup.conf",
    "topology.conf",
    "slurmdbd.conf",
    "acct_gather.conf",
    "job_container.conf",
    "helpers.conf",
    "mpi.conf",
    "oci.conf",
)


@dataclass(frozen=True)
class Config:
    """The texts of one host by path. Unknown things are empty: a rule never meets None where it can meet
    ()."""

    texts: Mapping[str, str] = field(default_factory=dict)
    folder: str = FOLDER
    _trees: dict[str, Tree | None] = field(default_factory=dict, repr=False, compare=False)
    _kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def path(self, name: str) -> str:
        """Where a file beside slurm.conf lies."""
        return f"{self.folder}/{name}"

    def tree(self, name: str) -> Tree | None:
        """A file beside slurm.conf with its includes, or None where it is not there."""
        if name not in self._trees:
            self._trees[name] = read_tree(self.path(name), self.texts.get)
        return self._trees[name]

    def remember(self, what: str, make: Callable[[], T]) -> T:
        """A value worked out of these files, made once; for views that only some rules need."""
        if what not in self._kept:
            self._kept[what] = make()
        kept: T = self._kept[what]
        return kept

    @property
    def slurm(self) -> Tree | None:
        return self.tree("slurm.conf")

    @property
    def gres(self) -> Tree | None:
        return self.tree("gres.conf")

    @property
    def cgroup(self) -> Tree | None:
        return self.tree("cgroup.conf")

    def setting(self, key: str, file: str = "slurm.conf") -> Setting | None:
        """The setting of a global key that counts."""
        tree = self.tree(file)
        return tree.get(key) if tree else None

    def value(self, key: str, default: str = "", file: str = "slurm.conf") -> str:
        """Its value, or what Slurm takes without one, given as `default`."""
        found = self.setting(key, file)
        return found.value if found else default

    def words(self, key: str, file: str = "slurm.conf") -> tuple[str, ...]:
        """The words of a comma list, in lower case."""
        return tuple(word.strip().lower() for word in self.value(key, file=file).split(",") if word.strip())

    def has(self, key: str, word: str) -> bool:
        """Is `word` (or `word=…`) in the comma list of a key of slurm.conf?"""
        return any(found.partition("=")[0] == word.lower() for found in self.words(key))

    @property
    def task_plugins(self) -> tuple[str, ...]:
        """TaskPlugin in lower case; Slurm takes the names without `task/` too (src/interfaces/task.c)."""
        return tuple(f"task/{word.removeprefix('task/')}" for word in self.words("TaskPlugin"))

    def truth(self, key: str, file: str, default: bool = False) -> bool:
        """A yes/no key; a wrong value counts as the default, and is another rule's matter."""
        text = self.value(key, file=file).lower()
        return True if text in ("yes", "up", "true", "1") else default if text == "" else False

    def place(self, key: str, file: str = "slurm.conf") -> Place:
        """The line of a key, or the file as a whole where the key is not set."""
        found = self.setting(key, file)
        return at(found) if found else Place(self.path(file))

    @cached_property
    def nodes(self) -> tuple[NodeLine, ...]:
        """Every NodeName line, DEFAULT lines applied."""
        return node_lines(self.slurm)

    @cached_property
    def node_index(self) -> Mapping[str, NodeLine]:
        """The line of each node; the first one where a node has several."""
        found: dict[str, NodeLine] = {}
        for line in self.nodes:
            for name in line.names:
                found.setdefault(name, line)
        return found

    @cached_property
    def partitions(self) -> tuple[PartitionLine, ...]:
        """Every PartitionName line, DEFAULT lines applied."""
        return partition_lines(self.slurm)

    @cached_property
    def gres_lines(self) -> tuple[GresLine, ...]:
        """Every line of gres.conf."""
        return gres_lines(self.gres)

    @cached_property
    def _gres_by_node(self) -> tuple[Mapping[str, tuple[GresLine, ...]], tuple[GresLine, ...]]:
        own: dict[str, list[GresLine]] = {}
        for line in self.gres_lines:
            for name in line.nodes or ():
                own.setdefault(name, []).append(line)
        everywhere = tuple(line for line in self.gres_lines if line.nodes is None)
        return {name: tuple(lines) for name, lines in own.items()}, everywhere

    def gres_of(self, node: str) -> tuple[GresLine, ...]:
        """The lines of gres.conf that a node reads, in the order of the file."""
        own, everywhere = self._gres_by_node
        lines = own.get(node, ())
        if not lines or not everywhere:
            return lines or everywhere
        return tuple(sorted((*lines, *everywhere), key=lambda line: line.order))

    @cached_property
    def _readers(self) -> dict[int, tuple[NodeLine, ...]]:
        found: dict[int, tuple[NodeLine, ...]] = {}
        for line in self.gres_lines:
            if line.nodes is None:
                found[line.order] = tuple(node for node in self.nodes if node.gres_named(line.name))
            else:
                nodes = (self.node_index.get(name) for name in line.nodes)
                found[line.order] = tuple(dict.fromkeys(node for node in nodes if node))
        return found

    def readers(self, line: GresLine) -> tuple[NodeLine, ...]:
        """The node lines whose nodes have the devices of a gres.conf line."""
        return self._readers[line.order]

    @cached_property
    def gres_groups(self) -> tuple[tuple[NodeLine, tuple[GresLine, ...], tuple[str, ...]], ...]:
        """Node lines with the gres.conf lines that hold for them, and the nodes of the line they hold for."""
        found: dict[tuple[int, tuple[int, ...]], tuple[NodeLine, tuple[GresLine, ...], list[str]]] = {}
        for line in self.nodes:
            for name in line.names:
                lines = self.gres_of(name)
                key = (id(line), tuple(one.order for one in lines))
                found.setdefault(key, (line, lines, []))[2].append(name)
        return tuple((line, lines, tuple(names)) for line, lines, names in found.values())

    def detects(self, node: str) -> str:
        """The AutoDetect that holds for a node, in lower case; empty where there is none or it is off."""
        own, everywhere = self._gres_by_node
        found = next((line.autodetect for line in own.get(node, ()) if line.autodetect), "")
        found = found or next(
            (line.autodetect for line in everywhere if line.is_global and line.autodetect), ""
        )
        return "" if found == "off" else found

    @property
    def detects_anywhere(self) -> bool:
        """Does any line of gres.conf switch detection on?"""
        return any(line.autodetect not in ("", "off") for line in self.gres_lines)

    @cached_property
    def has_gpus(self) -> bool:
        """Does any node or any line of gres.conf have GPUs?"""
        named = any(line.name == "gpu" for line in self.gres_lines)
        return named or self.detects_anywhere or any(line.gres_named("gpu") for line in self.nodes)


def at(found: Setting) -> Place:
    """The place of a setting."""
    return Place(found.doc.file, found.line)
