"""Compares what hosts show with what their types say, and names both sides where they differ.

Memory and device minors may differ from the type: a fact beats it. What decides the shape of the Slurm
lines may not: GPUs, sockets, cores, threads and NUMA nodes, because one line describes all hosts of a group.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.model.own_type_checks import normal_pci, numa_count
from slurmwright.model.yaml_source import Where

if TYPE_CHECKING:
    from slurmwright.model.facts import CpuFact, GpuFact, HostFacts


def differences(node_type: NodeType, facts: HostFacts) -> Iterator[tuple[Where, str]]:
    """Each difference: where in the facts, and in words that follow the host's name."""
    if facts.cpu is not None:
        for noun, shown, said in _cpu_sides(node_type, facts.cpu):
            if said is not None and shown != said:
                yield ("cpu",), f"has {noun} {shown} but its type {node_type.name} has {said}"
    if facts.gpus is None:
        return
    if len(facts.gpus) != node_type.gpu.count:
        yield (
            ("gpus",),
            f"has {_gpus(len(facts.gpus))} but its type {node_type.name} has {node_type.gpu.count}",
        )
    else:
        yield from _moved(node_type, facts.gpus)


def _cpu_sides(node_type: NodeType, cpu: CpuFact) -> Iterator[tuple[str, int, int | None]]:
    """What the facts show and what the type says, for each number that a NodeName line needs."""
    sockets = len({node.socket for node in cpu.numa})
    cores = sum(len(parse_cpus(node.cpus)) for node in cpu.numa) // cpu.threads_per_core
    said = node_type.cpu
    yield "sockets:", sockets, said.sockets
    yield "NUMA nodes:", len(cpu.numa), numa_count(node_type)
    yield (
        "cores:",
        cores,
        said.sockets * said.cores_per_socket if said.sockets and said.cores_per_socket else None,
    )
    yield "threads per core:", cpu.threads_per_core, said.threads_per_core


def _moved(node_type: NodeType, gpus: tuple[GpuFact, ...]) -> Iterator[tuple[Where, str]]:
    """GPUs at other PCI addresses; not judged where the type does not know all of them."""
    said = {normal_pci(gpu.pci) for gpu in node_type.gpus if gpu.pci}
    if len(said) != len(gpus):
        return
    for at, gpu in enumerate(gpus):
        if normal_pci(gpu.pci) not in said:
            missing = sorted(said - {normal_pci(other.pci) for other in gpus})
            text = (
                f"has a GPU at {gpu.pci} but its type {node_type.name} has none there (it has {missing[0]})"
            )
            yield ("gpus", at, "pci"), text


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
