"""Compares what hosts show with what their types say, and names both sides where they differ.

Memory and device minors may differ from the type: a fact beats it. What decides the shape of the Slurm
lines may not: GPUs, sockets, cores, threads and NUMA nodes, because one line describes all hosts of a group.
A GPU that `exceptions` declares missing, or a MIG layout that the group declares, is no difference.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.model.cluster import HostException, NodeGroup
from slurmwright.model.host_gpus import indexes_of
from slurmwright.model.own_type_checks import normal_pci, numa_count
from slurmwright.model.yaml_source import Where

if TYPE_CHECKING:
    from slurmwright.model.facts import CpuFact, GpuFact, HostFacts

#: Where in the facts, in words that follow the host's name, and what to do ("" for the usual).
Difference = tuple[Where, str, str]


def differences(
    node_type: NodeType, facts: HostFacts, group: NodeGroup, exception: HostException | None
) -> Iterator[Difference]:
    """Each difference between a host and what cluster.yaml says of it."""
    if facts.cpu is not None:
        for noun, shown, said in _cpu_sides(node_type, facts.cpu):
            if said is not None and shown != said:
                yield ("cpu",), f"has {noun} {shown} but its type {node_type.name} has {said}", ""
    if facts.gpus is None:
        return
    missing = exception.gpus_missing if exception else ()
    wanted = node_type.gpu.count - len(missing)
    if len(facts.gpus) != wanted:
        yield _other_count(node_type, facts, missing, wanted)
        return
    before = list(_moved(node_type, facts.gpus, missing))
    yield from before
    if not before:
        yield from _other_mig(node_type, facts.gpus, group, missing)


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


def _other_count(node_type: NodeType, facts: HostFacts, missing: tuple[int, ...], wanted: int) -> Difference:
    assert facts.gpus is not None  # noqa: S101 - the caller has looked
    text = f"has {_gpus(len(facts.gpus))} but its type {node_type.name} has {node_type.gpu.count}"
    if missing:
        text += f" and exceptions names {len(missing)} missing, which leaves {wanted}"
    said = {normal_pci(gpu.pci): gpu.index for gpu in node_type.gpus if gpu.pci}
    seen = {normal_pci(gpu.pci) for gpu in facts.gpus}
    gone = sorted(index for address, index in said.items() if address not in seen)
    if len(said) == node_type.gpu.count and seen < said.keys():
        line = f"exceptions: {{{facts.host}: {{gpus_missing: {gone}}}}}"
        return ("gpus",), text, f"write under its group: {line}, or drain it until it is mended"
    if missing and not gone:
        return ("gpus",), text, "take gpus_missing of this host out of exceptions"
    return ("gpus",), text, ""


def _moved(node_type: NodeType, gpus: tuple[GpuFact, ...], missing: tuple[int, ...]) -> Iterator[Difference]:
    """GPUs at other PCI addresses; not judged where the type does not know all of them."""
    every = {normal_pci(gpu.pci): gpu.index for gpu in node_type.gpus if gpu.pci}
    if len(every) != node_type.gpu.count:
        return
    said = {address for address, index in every.items() if index not in missing}
    for at, gpu in enumerate(gpus):
        address = normal_pci(gpu.pci)
        if address in every and address not in said:
            gone = [index for other, index in every.items() if other not in _addresses(gpus)]
            text = f"has GPU {every[address]} at {gpu.pci}, which exceptions names missing"
            yield ("gpus", at, "pci"), text, f"the GPU that is gone is {gone}: write gpus_missing: {gone}"
        elif address not in every:
            lost = sorted(said - _addresses(gpus))
            text = f"has a GPU at {gpu.pci} but its type {node_type.name} has none there (it has {lost[0]})"
            yield ("gpus", at, "pci"), text, ""


def _addresses(gpus: tuple[GpuFact, ...]) -> set[str]:
    return {normal_pci(gpu.pci) for gpu in gpus}


def _other_mig(
    node_type: NodeType, gpus: tuple[GpuFact, ...], group: NodeGroup, missing: tuple[int, ...]
) -> Iterator[Difference]:
    """GPUs whose MIG instances, where somebody looked, are not those that the group declares."""
    indexes = indexes_of(node_type, [normal_pci(gpu.pci) for gpu in gpus], missing)
    declared = {index: layout for layout in group.mig for index in layout.gpus}
    for at, (index, gpu) in enumerate(zip(indexes, gpus, strict=True)):
        if gpu.mig is None:
            continue
        layout = declared.get(index)
        shown = Counter(one.profile for one in gpu.mig)
        said = Counter(layout.profiles if layout else ())
        if shown != said:
            text = f"has GPU {index} {_divided(shown)} but cluster.yaml has it {_divided(said)}"
            line = f"mig: [{{gpus: [{index}], profiles: {_profiles(shown)}}}]"
            advice = f"divide it as declared, or write in its group: {line}" if shown else ""
            yield ("gpus", at), text, advice or "divide it as declared, or take it out of mig"
        elif layout and layout.caps and {one.caps for one in gpu.mig} != set(layout.caps):
            text = (
                f"has GPU {index} with caps {sorted(one.caps for one in gpu.mig)}, cluster.yaml says others"
            )
            yield ("gpus", at, "mig"), text, "take caps out of cluster.yaml: facts give them"


def _divided(profiles: Counter[str]) -> str:
    return f"divided into {_profiles(profiles)}" if profiles else "whole"


def _profiles(profiles: Counter[str]) -> str:
    return "{" + ", ".join(f"{profile}: {count}" for profile, count in profiles.items()) + "}"


def _gpus(count: int) -> str:
    return "1 GPU" if count == 1 else f"{count} GPUs"
