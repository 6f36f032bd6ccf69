"""Node types, of the catalogue or of a cluster, to their topologies: tree, ways, and the file for NCCL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from slurmwright.catalogue.nccl_versions import newest_nccl
from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.errors import InputError, Problem
from slurmwright.topology.nccl_judge import judge_topology
from slurmwright.topology.nccl_paths import Matrix, Way, path_matrix
from slurmwright.topology.nccl_tree import Box, compute_nics, missing_facts, type_tree
from slurmwright.topology.nccl_xml import COMMENT, topology_xml


@dataclass(frozen=True)
class TypeTopology:
    """One type. Without `whole` nothing is told but what is missing. Devices are (name, gpu or nic, pci)."""

    name: str
    missing: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    skeleton: Box | None = None
    whole: Box | None = None
    devices: tuple[tuple[str, str, str], ...] = ()
    matrix: Matrix | None = field(default=None, repr=False)

    def way(self, one: str, other: str) -> Way | None:
        """The way from a GPU to another device, by their names."""
        ids = {name: pci if kind == "gpu" else name for name, kind, pci in self.devices}
        return self.matrix.ways.get((ids[one], ids[other])) if self.matrix else None

    @property
    def rows(self) -> Iterator[tuple[str, str, Way]]:
        """Every pair of a GPU and another device with its way."""
        for one, kind, _ in self.devices:
            for other, _, _ in self.devices if kind == "gpu" else ():
                way = self.way(one, other)
                if way:
                    yield one, other, way

    @property
    def xml(self) -> str:
        """The file for NCCL_TOPO_FILE; raises InputError with what is missing."""
        if self.skeleton is None:
            raise InputError(
                Problem("", 0, 0, f"no topology file for {self.name}: {fact} is not known")
                for fact in self.missing
            )
        return topology_xml(self.skeleton, COMMENT.format(self.name))


def topology_of(kind: NodeType) -> TypeTopology:
    """A type as NCCL sees it."""
    missing = missing_facts(kind)
    if missing:
        return TypeTopology(kind.name, missing)
    tree = type_tree(kind)
    system = judge_topology(topology_xml(tree.whole).encode(), newest_nccl()).system
    assert system is not None  # noqa: S101 - written by topology_xml in the form that every version reads
    matrix = path_matrix(system)
    gpus = [(f"GPU{gpu.index}", "gpu", (gpu.pci or "").lower()) for gpu in kind.gpus]
    nics = [(nic.name, "nic", (nic.pci or "").lower()) for nic in compute_nics(kind)]
    return TypeTopology(kind.name, (), tree.unknown, tree.skeleton, tree.whole, (*gpus, *nics), matrix)
