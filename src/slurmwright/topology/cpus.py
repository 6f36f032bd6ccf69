"""Turns a CPU layout into Slurm's socket view: which logical cores belong to which NUMA node and socket.

*core* is Slurm's logical core index: cores counted in hwloc's logical order, socket by socket, SMT siblings
not counted. *cpu* is the operating system's CPU id. `Cores=` in gres.conf takes cores; `nvidia-smi topo -m`,
lscpu and sysfs print cpus. The two agree only on machines that number socket by socket, and there only
without SMT siblings (Slurm source: xcpuinfo_abs_to_mac in src/slurmd/common/xcpuinfo.c).

>>> layout = CpuLayout.regular(2, 56, 2, 1, "interleaved")
>>> layout.numa_node(1).cpu_list, layout.numa_node(1).core_range
('1-223:2', (56, 111))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from slurmwright.catalogue.node_types import Cpu, Numbering
from slurmwright.core.cpu_list import fold_cpus as fold_cpus
from slurmwright.core.cpu_list import parse_cpus as parse_cpus


@dataclass(frozen=True)
class NumaNode:
    """One NUMA node with CPUs. `cores[i]` holds the cpus (SMT siblings, lowest first) of core `first + i`."""

    id: int
    socket: int
    first: int
    cores: tuple[tuple[int, ...], ...]

    @property
    def core_range(self) -> tuple[int, int]:
        """First and last core, both included."""
        return self.first, self.first + len(self.cores) - 1

    @property
    def cpu_list(self) -> str:
        """The cpus as the kernel would list them, with `:step` where they are dealt out over sockets."""
        return fold_cpus(cpu for core in self.cores for cpu in core)


@dataclass(frozen=True)
class CpuLayout:
    """NUMA nodes in hwloc's logical order: by package, then by lowest cpu. All nodes have equal shape."""

    threads: int
    nodes: tuple[NumaNode, ...]

    @classmethod
    def regular(
        cls, sockets: int, cores_per_socket: int, threads: int, numa_per_socket: int, numbering: Numbering
    ) -> CpuLayout:
        """The layout of a catalogue type; cores_per_socket must be a multiple of numa_per_socket."""
        per_node, rest = divmod(cores_per_socket, numa_per_socket)
        if rest:
            raise ValueError(f"{cores_per_socket} cores do not divide into {numa_per_socket} NUMA nodes")
        total = sockets * cores_per_socket

        def siblings(core: int) -> tuple[int, ...]:
            socket, inside = divmod(core, cores_per_socket)
            first = core if numbering == "contiguous" else inside * sockets + socket
            return tuple(first + thread * total for thread in range(threads))

        return cls(
            threads,
            tuple(
                NumaNode(
                    node,
                    node // numa_per_socket,
                    node * per_node,
                    tuple(siblings(core) for core in range(node * per_node, (node + 1) * per_node)),
                )
                for node in range(sockets * numa_per_socket)
            ),
        )

    @classmethod
    def from_lists(cls, numa: Iterable[tuple[int, int, Sequence[int]]], threads: int) -> CpuLayout:
        """The layout that a host shows: (NUMA id, package, cpus) each; raises ValueError for unequal nodes.

        Linux numbers the first threads of all cores before their siblings, so the lower part of a node's
        sorted cpus are its cores and the rest their siblings, in the same order.
        """
        rows = [(node, package, sorted(set(cpus))) for node, package, cpus in numa]
        if not rows or len({len(cpus) for _, _, cpus in rows}) != 1:
            raise ValueError("NUMA nodes have different numbers of CPUs")
        packages = [package for _, package, _ in rows]
        if len({packages.count(package) for package in packages}) != 1:
            raise ValueError("packages have different numbers of NUMA nodes")
        size, rest = divmod(len(rows[0][2]), threads)
        if rest or not size:
            raise ValueError(f"{len(rows[0][2])} CPUs of a NUMA node are no multiple of {threads} threads")
        lowest = {package: min(c[0] for _, p, c in rows if p == package) for _, package, _ in rows}
        rows.sort(key=lambda row: (lowest[row[1]], row[2][0]))
        order = {package: at for at, package in enumerate(sorted(lowest, key=lowest.__getitem__))}
        return cls(
            threads,
            tuple(
                NumaNode(
                    node,
                    order[package],
                    at * size,
                    tuple(tuple(cpus[core + t * size] for t in range(threads)) for core in range(size)),
                )
                for at, (node, package, cpus) in enumerate(rows)
            ),
        )

    @property
    def sockets(self) -> int:
        return len({node.socket for node in self.nodes})

    @property
    def cores(self) -> int:
        return sum(len(node.cores) for node in self.nodes)

    @property
    def cpus(self) -> int:
        return self.cores * self.threads

    @property
    def splits_sockets(self) -> bool:
        """Does a package hold several NUMA nodes (NPS2/NPS4, SNC)? Then Slurm needs `numa_node_as_socket`."""
        return len(self.nodes) > self.sockets

    def slurm_sockets(self, numa_as_socket: bool) -> tuple[int, int]:
        """(SocketsPerBoard, CoresPerSocket) that slurmd will find, with or without `numa_node_as_socket`."""
        count = len(self.nodes) if numa_as_socket else self.sockets
        return count, self.cores // count

    def numa_node(self, numa: int) -> NumaNode:
        """The node with this NUMA id; raises KeyError when there is none with CPUs."""
        for node in self.nodes:
            if node.id == numa:
                return node
        raise KeyError(numa)

    def socket_cores(self, numa: int, numa_as_socket: bool) -> tuple[int, int]:
        """First and last core of the Slurm socket that holds NUMA node `numa`."""
        node = self.numa_node(numa)
        if numa_as_socket:
            return node.core_range
        mates = [n for n in self.nodes if n.socket == node.socket]
        return mates[0].core_range[0], mates[-1].core_range[1]

    def hwloc_synthetic(self) -> str:
        """HWLOC_SYNTHETIC text for which a real slurmd sees this layout, OS numbering included."""
        per_package = len(self.nodes) // self.sockets
        cores = len(self.nodes[0].cores)
        numa = f"numa:{per_package}" if self.splits_sockets else "[numa]"
        indexes = ",".join(str(cpu) for node in self.nodes for core in node.cores for cpu in core)
        return f"pack:{self.sockets} {numa} core:{cores} pu:{self.threads}(indexes={indexes})"


def layout_of(cpu: Cpu) -> CpuLayout | None:
    """The layout of a type, or None while a fact it needs is unknown."""
    facts = (cpu.sockets, cpu.cores_per_socket, cpu.threads_per_core, cpu.numa_per_socket)
    if None in facts or cpu.numbering is None:
        return None
    sockets, cores, threads, numa = (int(fact or 0) for fact in facts)
    return CpuLayout.regular(sockets, cores, threads, numa, cpu.numbering)
