"""Turns groups, node types and facts into sets of hosts that are described alike: one node line each.

Memory rule: RealMemory must stay below what slurmd finds, or the node is refused. Written are 98 % of what
was read on the hosts (the least of a group) or seen on such a machine, and 95 % of the nominal size where
nothing else is known (marked as assumed), rounded down to 1000 MB. On Grace only the memory at the CPUs
counts, since the operating system adds the GPUs' memory to the total.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.catalogue.node_types import NodeType, gpu_model
from slurmwright.core.errors import InputError, Problem
from slurmwright.model.cluster import Cluster, NodeGroup
from slurmwright.model.facts import HostFacts
from slurmwright.topology.cpus import CpuLayout, layout_of, parse_cpus

SEEN_SHARE, NOMINAL_SHARE = 0.98, 0.95


@dataclass(frozen=True)
class Device:
    """One GPU: N of /dev/nvidiaN and its NUMA node (None: only where slurmd detects GPUs itself)."""

    minor: int
    numa: int | None


@dataclass(frozen=True)
class Shape:
    """What hosts of one line have in common. `minors_assumed`: no facts say which device number a GPU has."""

    type: str
    layout: CpuLayout
    memory_mb: int
    memory_assumed: bool
    gpu_type: str
    devices: tuple[Device, ...]
    minors_assumed: bool
    autodetect: str | None
    features: tuple[str, ...]
    weight: int | None
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Described:
    """Hosts of one shape, in written order, with their addresses (none, or one each)."""

    hosts: tuple[str, ...]
    addresses: tuple[str, ...]
    shape: Shape


def describe(cluster: Cluster, facts: Mapping[str, HostFacts]) -> tuple[Described, ...]:
    """All hosts of the cluster by shape; raises InputError with everything that is not known yet."""
    problems: list[Problem] = []
    rows: list[Described] = []
    for group in cluster.nodes:
        node_type = cluster.node_types[group.type]
        missing = list(_missing(node_type, group, facts))
        problems += [Problem("", 0, 0, f"node type '{node_type.name}': {text}") for text in missing]
        if not missing:
            rows += _rows(node_type, group, facts)
    if problems:
        raise InputError(problems)
    return tuple(rows)


def _missing(node_type: NodeType, group: NodeGroup, facts: Mapping[str, HostFacts]) -> Iterator[str]:
    """What the admin must give or discover before this group can be written."""
    known = [facts[host] for host in group.hosts if host in facts]
    everywhere = len(known) == len(group.hosts)
    if layout_of(node_type.cpu) is None and not (everywhere and all(f.cpu for f in known)):
        wanted = ("sockets", "cores_per_socket", "threads_per_core", "numa_per_socket", "numbering")
        names = ", ".join(f"cpu.{name}" for name in wanted if getattr(node_type.cpu, name) is None)
        yield f"{names} not known; give them in node_types, or facts of every host"
    memory = node_type.memory
    if not any((memory.nominal_gib, memory.real_memory_mb, memory.cpu_memory_mb)) and not any(
        f.memory for f in known
    ):
        yield "memory not known; give memory.real_memory_mb (what `slurmd -C` prints) in node_types, or facts"
    if not node_type.gpu.count:
        return
    if node_type.gpu.model is None:
        yield "gpu.model not known; give it in node_types (`slurmwright types` lists what there is)"
    elif gpu_model(node_type.gpu.model).vendor == "amd":
        yield (
            "AMD GPUs are listed but not rendered: their device files (renderD*) and AutoDetect=rsmi are not "
            "supported"
        )
    mapped = {gpu.index for gpu in node_type.gpus if gpu.numa is not None}
    if group.autodetect is None and len(mapped) < node_type.gpu.count:
        numa = [f.gpus is not None and all(g.numa is not None for g in f.gpus) for f in known]
        if not (everywhere and all(numa)):
            yield (
                "NUMA nodes of its GPUs not known; give gpus: [{index: 0, numa: 0}, ...] in node_types, or "
                "facts of every host, or `autodetect` on the group"
            )


def _rows(node_type: NodeType, group: NodeGroup, facts: Mapping[str, HostFacts]) -> list[Described]:
    memory, assumed = _memory(node_type, [facts[h] for h in group.hosts if h in facts])
    shapes: dict[Shape, list[int]] = {}
    plain: Shape | None = None
    for at, host in enumerate(group.hosts):
        own = facts.get(host)
        if own is None:
            plain = plain or _shape(node_type, group, memory, assumed, None)
            shape = plain
        else:
            shape = _shape(node_type, group, memory, assumed, own)
        shapes.setdefault(shape, []).append(at)
    return [
        Described(
            tuple(group.hosts[at] for at in places),
            tuple(group.address[at] for at in places) if group.address else (),
            shape,
        )
        for shape, places in shapes.items()
    ]


def _shape(
    node_type: NodeType, group: NodeGroup, memory: int, assumed: bool, facts: HostFacts | None
) -> Shape:
    layout = layout_of(node_type.cpu)
    if facts is not None and facts.cpu is not None:
        numa = ((node.id, node.socket, parse_cpus(node.cpus)) for node in facts.cpu.numa)
        layout = CpuLayout.from_lists(numa, facts.cpu.threads_per_core)
    assert layout is not None  # noqa: S101 - _missing has refused this type otherwise
    found = facts.gpus if facts is not None else None
    if found is not None:
        devices = tuple(Device(gpu.minor, gpu.numa) for gpu in found)
    else:
        of_index = {gpu.index: gpu.numa for gpu in node_type.gpus}
        devices = tuple(Device(index, of_index.get(index)) for index in range(node_type.gpu.count))
    return Shape(
        type=node_type.name,
        layout=layout,
        memory_mb=memory,
        memory_assumed=assumed,
        gpu_type=gpu_model(node_type.gpu.model).slurm_type if node_type.gpu.model and devices else "",
        devices=tuple(sorted(devices, key=lambda device: device.minor)),
        minors_assumed=found is None and bool(devices),
        autodetect=group.autodetect if devices else None,
        features=group.features,
        weight=group.weight,
        options=tuple(group.options.items()),
    )


def _memory(node_type: NodeType, facts: list[HostFacts]) -> tuple[int, bool]:
    """RealMemory of a group in MB, and whether it rests on the nominal size alone."""
    memory = node_type.memory
    read = [f.memory.real_memory_mb for f in facts if f.memory]
    seen = min(read) if read else memory.real_memory_mb
    if memory.cpu_memory_mb is not None:
        seen = min(seen or memory.cpu_memory_mb, memory.cpu_memory_mb)
    if seen is not None:
        return _round_down(seen * SEEN_SHARE), False
    return _round_down((memory.nominal_gib or 0) * 1024 * NOMINAL_SHARE), True


def _round_down(megabytes: float) -> int:
    step = 1000 if megabytes >= 10_000 else 100
    return int(megabytes) // step * step
