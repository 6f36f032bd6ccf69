"""Turns node types and facts into what a correct cluster must show, without a look at any rendered file.

This is the independent side of every verdict: sockets, cores and GPUs come from the hardware's own map, so
that a wrong slurm.conf or gres.conf cannot agree with itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slurmwright.catalogue.node_types import NodeType, gpu_model
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.topology.cpus import CpuLayout, layout_of, parse_cpus


@dataclass(frozen=True)
class ExpectedGpu:
    """One GPU of one host: N of its /dev/nvidiaN, and its NUMA node (None: unknown, locality not checked)."""

    minor: int
    numa: int | None


@dataclass(frozen=True)
class ExpectedNode:
    """What hosts of one shape must show. `minors_known`: from facts, or assumed in PCI order."""

    type: str
    layout: CpuLayout
    gpu_type: str
    gpus: tuple[ExpectedGpu, ...]
    minors_known: bool
    autodetect: str | None

    def gpu_of_index(self, index: int) -> ExpectedGpu | None:
        """The GPU that Slurm calls IDX `index`: Slurm counts device files in rising order of their number."""
        ordered = sorted(self.gpus, key=lambda gpu: gpu.minor)
        return ordered[index] if index < len(ordered) else None


def expected_nodes(cluster: Cluster, facts: Mapping[str, HostFacts]) -> dict[str, ExpectedNode]:
    """Host → what it must show; equal hosts share one value. InputError for a type without a layout."""
    plain: dict[tuple[str, str | None], ExpectedNode] = {}
    nodes: dict[str, ExpectedNode] = {}
    for group in cluster.nodes:
        node_type = cluster.node_types[group.type]
        for host in group.hosts:
            if host in facts:
                nodes[host] = _from_facts(node_type, facts[host], group.autodetect)
                continue
            key = (group.type, group.autodetect)
            if key not in plain:
                plain[key] = _from_type(node_type, group.autodetect)
            nodes[host] = plain[key]
    return nodes


def _from_type(node_type: NodeType, autodetect: str | None) -> ExpectedNode:
    layout = layout_of(node_type.cpu)
    if layout is None:
        raise InputError.of(
            f"node type '{node_type.name}' cannot be rehearsed: its CPU layout is not known; give "
            "cpu.sockets, cpu.cores_per_socket, cpu.threads_per_core, cpu.numa_per_socket and "
            "cpu.numbering in node_types, or facts of its hosts"
        )
    numa = {gpu.index: gpu.numa for gpu in node_type.gpus}
    return ExpectedNode(
        node_type.name,
        layout,
        _slurm_type(node_type),
        tuple(ExpectedGpu(index, numa.get(index)) for index in range(node_type.gpu.count)),
        False,
        autodetect,
    )


def _from_facts(node_type: NodeType, facts: HostFacts, autodetect: str | None) -> ExpectedNode:
    base = _from_type(node_type, autodetect) if layout_of(node_type.cpu) or not facts.cpu else None
    layout = base.layout if base else None
    if facts.cpu is not None:
        layout = CpuLayout.from_lists(
            ((n.id, n.socket, parse_cpus(n.cpus)) for n in facts.cpu.numa), facts.cpu.threads_per_core
        )
    assert layout is not None  # noqa: S101 - one of the two branches above has set it
    gpus = base.gpus if base else ()
    if facts.gpus is not None:
        gpus = tuple(ExpectedGpu(gpu.minor, gpu.numa) for gpu in facts.gpus)
    return ExpectedNode(
        node_type.name, layout, _slurm_type(node_type), gpus, facts.gpus is not None, autodetect
    )


def _slurm_type(node_type: NodeType) -> str:
    return gpu_model(node_type.gpu.model).slurm_type if node_type.gpu.model else ""
