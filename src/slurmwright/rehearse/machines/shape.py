"""Turns a node type into a guest's shape: its NUMA nodes, PCIe switches, GPUs and NICs, with fewer cores.

Scaling rule: each NUMA node gets as many cores as there are GPUs beside the fullest of them, at least one,
so that every GPU can have a core of its own. Sockets, NUMA nodes, threads and devices are not scaled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from slurmwright.catalogue.node_types import NodeType
from slurmwright.rehearse.expect import ExpectedNode

#: MiB of a compute guest, and what each NUMA node has at least: Debian, slurmd and a job's Python fit.
_MEMORY, _PER_NUMA = 768, 112


@dataclass(frozen=True)
class Branch:
    """What hangs below one PCIe root port: one device, or a switch with several. `numa` is None where nobody
    knows it, `gpus` are indexes."""

    numa: int | None
    gpus: tuple[int, ...] = ()
    nics: tuple[str, ...] = ()

    @property
    def is_switch(self) -> bool:
        return len(self.gpus) + len(self.nics) > 1


@dataclass(frozen=True)
class Shape:
    """One guest. `cores` counts those of each NUMA node."""

    sockets: int
    numa_per_socket: int
    cores: int
    threads: int
    memory_mb: int
    branches: tuple[Branch, ...] = ()

    @property
    def numa(self) -> int:
        return self.sockets * self.numa_per_socket

    @property
    def cpus(self) -> int:
        return self.numa * self.cores * self.threads

    @property
    def numa_memory_mb(self) -> int:
        return self.memory_mb // self.numa

    @property
    def usable_mb(self) -> int:
        """What slurmd can count on finding: the kernel keeps a part for itself."""
        return self.memory_mb * 7 // 8


#: The guest that is controller, database and login host. MariaDB and slurmdbd want the memory.
SERVER = Shape(1, 1, 2, 1, 1536)


def shape_of(node_type: NodeType, expected: ExpectedNode, present: Collection[int]) -> Shape:
    """The guest of a node that has the GPUs with these indexes; `expected` knows its CPUs, by facts too."""
    nodes = expected.layout.nodes
    near = Counter(gpu.numa for gpu in node_type.gpus if gpu.numa is not None)
    most = max(near.values()) if near else -(-node_type.gpu.count // len(nodes))
    places = {node.id: at for at, node in enumerate(nodes)}
    return Shape(
        expected.layout.sockets,
        len(nodes) // expected.layout.sockets,
        min(max(most, 1), len(nodes[0].cores)),
        expected.layout.threads,
        max(_MEMORY, _PER_NUMA * len(nodes)),
        tuple(_placed(node_type, present, places)),
    )


def branches_of(node_type: NodeType) -> Iterator[Branch]:
    """GPUs and NICs of a type by the PCIe switch that joins them, in PCI order of the GPUs."""
    numa = {gpu.index: gpu.numa for gpu in node_type.gpus}
    links = {nic.name: frozenset(nic.gpus) for nic in node_type.network.devices}
    left = set(range(node_type.gpu.count))
    for gpu in range(node_type.gpu.count):
        if gpu in left:
            branch = _joined(gpu, numa.get(gpu), links)
            left -= set(branch.gpus)
            yield branch
    for nic in node_type.network.devices:
        if not nic.gpus:
            yield Branch(nic.numa, (), (nic.name,))


def _joined(start: int, numa: int | None, links: Mapping[str, frozenset[int]]) -> Branch:
    """All GPUs and NICs that hang together with GPU `start`."""
    gpus, size = frozenset({start}), 0
    while len(gpus) != size:
        size = len(gpus)
        gpus = gpus.union(*(below for below in links.values() if below & gpus))
    nics = tuple(name for name, below in links.items() if below & gpus)
    return Branch(numa, tuple(sorted(gpus)), nics)


def _placed(node_type: NodeType, present: Collection[int], places: Mapping[int, int]) -> Iterator[Branch]:
    """Branches with the GPUs that are there, and NUMA nodes by their place, as QEMU counts them."""
    for branch in branches_of(node_type):
        gpus = tuple(gpu for gpu in branch.gpus if gpu in present)
        if gpus or branch.nics:
            numa = None if branch.numa is None else places.get(branch.numa)
            yield replace(branch, numa=numa, gpus=gpus)
