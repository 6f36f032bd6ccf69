"""Turns a node type into its JSON document, with what follows from the facts: cores, CPUs, what is unknown.

*cores* are Slurm's logical core indexes, *cpus* the operating system's CPU ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from slurmwright.catalogue.node_types import NodeType, gpu_model, load_node_type
from slurmwright.topology.cpus import CpuLayout, layout_of

FORMAT = "slurmwright/node-type/1"


def type_json(kind: NodeType) -> dict[str, Any]:
    """Everything that is known about one type, and in `unknown` the names of the facts that are not."""
    layout = core_layout(kind)
    return {
        "format": FORMAT,
        **kind.model_dump(mode="json"),
        "gpu_model": gpu_model(kind.gpu.model).model_dump(mode="json") if kind.gpu.model else None,
        "rendered": why_not_rendered(kind) is None,
        "why_not_rendered": why_not_rendered(kind),
        "slurm": _slurm_view(kind, layout),
        "numa": _numa_nodes(kind, layout),
        "unknown": list(unknown_facts(kind)),
    }


def types_table(names: Iterable[str]) -> tuple[dict[str, Any], ...]:
    """One short row for each type of the catalogue."""
    return tuple(_short(load_node_type(name)) for name in names)


def _short(kind: NodeType) -> dict[str, Any]:
    return {
        "name": kind.name,
        "description": kind.description,
        "gpu": kind.gpu.model,
        "gpu_count": kind.gpu.count,
        "sockets": kind.cpu.sockets,
        "cores_per_socket": kind.cpu.cores_per_socket,
        "threads_per_core": kind.cpu.threads_per_core,
        "numa_per_socket": kind.cpu.numa_per_socket,
        "nominal_gib": kind.memory.nominal_gib,
        "rendered": why_not_rendered(kind) is None,
        "unknown": list(unknown_facts(kind)),
    }


def why_not_rendered(kind: NodeType) -> str | None:
    """The reason for which render refuses the type whatever the admin adds."""
    vendor = gpu_model(kind.gpu.model).vendor if kind.gpu.model else "nvidia"
    return "AMD GPUs are listed, not rendered" if vendor == "amd" else None


def unknown_facts(kind: NodeType) -> tuple[str, ...]:
    """Names of the facts that render would have to be given or discovery to read."""
    facts = {
        "cpu.sockets": kind.cpu.sockets,
        "cpu.cores_per_socket": kind.cpu.cores_per_socket,
        "cpu.threads_per_core": kind.cpu.threads_per_core,
        "cpu.numa_per_socket": kind.cpu.numa_per_socket,
        "cpu.numbering": kind.cpu.numbering,
        "memory.nominal_gib": kind.memory.nominal_gib,
        "memory.real_memory_mb": kind.memory.real_memory_mb,
        "gpu.model": kind.gpu.model,
        "gpus.numa": kind.gpus or None,
        "gpus.pci": (all(gpu.pci for gpu in kind.gpus) and kind.gpus) or None,
    }
    return tuple(name for name, value in facts.items() if value is None)


def core_layout(kind: NodeType) -> CpuLayout | None:
    """The cores of each NUMA node; core ranges do not depend on SMT, so threads may be unknown."""
    cpu = kind.cpu
    if cpu.threads_per_core is None:
        cpu = cpu.model_copy(update={"threads_per_core": 1})
    return layout_of(cpu)


def _slurm_view(kind: NodeType, layout: CpuLayout | None) -> dict[str, Any] | None:
    """What slurmd finds on the type, with numa_node_as_socket where packages hold several NUMA nodes."""
    if layout is None:
        return None
    sockets, cores = layout.slurm_sockets(layout.splits_sockets)
    return {
        "SocketsPerBoard": sockets,
        "CoresPerSocket": cores,
        "ThreadsPerCore": kind.cpu.threads_per_core,
        "numa_node_as_socket": layout.splits_sockets,
    }


def _numa_nodes(kind: NodeType, layout: CpuLayout | None) -> list[dict[str, Any]]:
    """NUMA nodes with CPUs, in logical order, and the GPUs and other devices on each."""
    below = {name for gpu in kind.gpus for name in gpu.nics}
    return [
        {
            "numa": node.id,
            "socket": node.socket,
            "cores": "{}-{}".format(*node.core_range),
            "cpus": node.cpu_list if kind.cpu.threads_per_core else None,
            "gpus": [gpu.index for gpu in kind.gpus if gpu.numa == node.id],
            "other_nics": [
                nic.name for nic in kind.network.devices if nic.numa == node.id and nic.name not in below
            ],
        }
        for node in (layout.nodes if layout else ())
    ]
