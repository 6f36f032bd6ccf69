"""Turns an hwloc topology into a host's map: NUMA nodes, cores and GPUs; adds cores where it has none.

Some exports hold packages and NUMA nodes with their cpusets but no cores and PUs. The kernel numbers the
first thread of every core, then the second of every core, and so on, and deals each round out over the
packages in runs or in turn: threads and cores follow from the cpusets. Where the cpusets fit several numbers
of threads (one NUMA node; cpus dealt out in turn) nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.core.errors import InputError
from slurmwright.topology.cpus import CpuLayout
from slurmwright.topology.hwloc_text import (
    Element,
    members_of,
    read_bitmap,
    read_topology,
    write_bitmap,
    write_topology,
)

_NVIDIA = "10de:"
_DISPLAY = ("0300", "0302")
_MOST_THREADS = 8


@dataclass(frozen=True)
class NumaCpus:
    """One NUMA node with CPUs: its number, that of its package, and its cpus."""

    id: int
    package: int
    cpus: tuple[int, ...]


@dataclass(frozen=True)
class MappedGpu:
    """One NVIDIA GPU of the PCI tree; `numa` is None where the tree hangs it below several NUMA nodes."""

    pci: str
    numa: int | None


@dataclass(frozen=True)
class HostMap:
    """What an hwloc topology says. `xml` is the text to give hwloc: whole, with a core and a PU for each CPU.
    `added`: the cores were not in the export."""

    numa: tuple[NumaCpus, ...]
    threads: int
    gpus: tuple[MappedGpu, ...]
    xml: str
    added: bool

    @property
    def layout(self) -> CpuLayout:
        """The layout that slurmd finds; ValueError for NUMA nodes that are not alike."""
        return CpuLayout.from_lists(((n.id, n.package, n.cpus) for n in self.numa), self.threads)


def read_map(text: str, file: str, threads: int | None = None) -> HostMap:
    """The map of one host; `threads` per core decide where the cpusets alone do not. Raises InputError."""
    root = read_topology(text, file)
    try:
        return _map_of(root, threads)
    except ValueError as error:
        raise InputError.of(str(error), file) from None


def possible_threads(nodes: Sequence[Sequence[int]], packages: int) -> tuple[int, ...]:
    """How many threads a core can have where NUMA nodes hold these cpus."""
    total = sum(len(cpus) for cpus in nodes)
    return tuple(
        count
        for count in range(1, _MOST_THREADS + 1)
        if total % count == 0 and all(_fits(cpus, count, total // count, packages) for cpus in nodes)
    )


def _fits(cpus: Sequence[int], threads: int, cores: int, packages: int) -> bool:
    """Is this a node of a machine of `cores` cores: a run, or every `packages`th cpu, for each thread?"""
    first = [cpu for cpu in cpus if cpu < cores]
    steps = {after - before for before, after in pairwise(first)}
    whole = sorted(cpu + thread * cores for cpu in first for thread in range(threads))
    return bool(first) and len(steps) <= 1 and steps <= {1, packages} and whole == sorted(cpus)


def _map_of(root: Element, threads: int | None) -> HostMap:
    machine = next(root.objects(), None)
    if machine is None:
        raise ValueError("holds no Machine; expected an export of a whole machine")
    numa = tuple(_numa_nodes(machine))
    if not numa:
        raise ValueError("holds no Package with a NUMA node and CPUs; expected packages with their cpusets")
    gpus = tuple(sorted(_gpus(machine, ()), key=lambda gpu: gpu.pci))
    cores = [core for core in _all(machine) if core.type == "Core"]
    if cores:
        counts = {len(_cpus(core)) for core in cores}
        if len(counts) != 1:
            raise ValueError(
                f"cores have {' and '.join(map(str, sorted(counts)))} threads; Slurm wants one number"
            )
        found = HostMap(numa, counts.pop(), gpus, write_topology(root), False)
        _check_cores(found, cores)
        return found
    if threads is None:
        threads = _threads(numa)
    layout = CpuLayout.from_lists(((n.id, n.package, n.cpus) for n in numa), threads)
    per_core = [core for node in layout.nodes for core in node.cores]
    next_index = 1 + max(_number(one, "gp_index") for one in _all(machine))
    whole = _with_cores(machine, sorted(per_core), next_index)
    parts = tuple(whole if part is machine else part for part in root.parts)
    return HostMap(numa, threads, gpus, write_topology(replace(root, parts=parts)), True)


def _threads(numa: Sequence[NumaCpus]) -> int:
    found = possible_threads([node.cpus for node in numa], len({node.package for node in numa}))
    shown = "; ".join(f"NUMA node {node.id}: {fold_cpus(node.cpus)}" for node in numa)
    if len(found) == 1:
        return found[0]
    fit = f"fit {', '.join(map(str, found))} threads per core" if found else "fit no number of threads"
    raise ValueError(
        f"holds no cores, and its cpusets {fit} ({shown}); export it with its cores (lstopo-no-graphics "
        "--of xml without --filter), or give cpu.threads_per_core in the facts of this host"
    )


def _check_cores(found: HostMap, cores: Sequence[Element]) -> None:
    """The cores of the export must be those that the layout counts, or locality would be judged wrongly."""
    shown = {_cpus(core) for core in cores}
    for node in found.layout.nodes:
        for core in node.cores:
            if tuple(sorted(core)) not in shown:
                cpus = fold_cpus(core)
                raise ValueError(f"no core holds the CPUs {cpus}; its CPUs are numbered in an unknown way")


def _numa_nodes(machine: Element) -> Iterator[NumaCpus]:
    """NUMA nodes with CPUs of their own, each in its package; of those with the same CPUs (HBM beside DDR)
    the first, which is the one that the kernel counts the CPUs to."""
    seen: set[tuple[int, ...]] = set()
    taken: dict[int, int] = {}
    packages = [(_number(p, "os_index"), _cpus(p)) for p in _all(machine) if p.type == "Package"]
    nodes = [node for node in _all(machine) if node.type == "NUMANode"]
    for number, cpus in sorted((_number(node, "os_index"), _cpus(node)) for node in nodes):
        if not cpus or cpus in seen:
            continue
        seen.add(cpus)
        inside = [package for package, own in packages if set(cpus) <= set(own)]
        if len(inside) != 1:
            raise ValueError(
                f"NUMA node {number} with CPUs {fold_cpus(cpus)} is in {len(inside)} packages; expected one"
            )
        for cpu in cpus:
            if taken.setdefault(cpu, number) != number:
                raise ValueError(
                    f"CPU {cpu} is in NUMA nodes {taken[cpu]} and {number}; a CPU is in one node"
                )
        yield NumaCpus(number, inside[0], cpus)
    for package, own in packages:
        left = set(own) - taken.keys()
        if left:
            raise ValueError(f"CPUs {fold_cpus(left)} of package {package} are in no NUMA node")


def _gpus(element: Element, nodes: tuple[int, ...]) -> Iterator[MappedGpu]:
    for part in element.objects():
        below = members_of(read_bitmap(part.attributes["nodeset"])) if "nodeset" in part.attributes else nodes
        kind, _, ids = part.attributes.get("pci_type", "").partition(" [")
        if part.type == "PCIDev" and kind in _DISPLAY and ids.startswith(_NVIDIA):
            yield MappedGpu(part.attributes.get("pci_busid", ""), below[0] if len(below) == 1 else None)
        yield from _gpus(part, below)


def _with_cores(element: Element, cores: Sequence[tuple[int, ...]], index: int) -> Element:
    """The same objects with each core in the smallest object that holds its CPUs, behind what is there."""
    own = set(_cpus(element))
    mine = [core for core in cores if own.issuperset(core)]
    parts = []
    for part in element.parts:
        holds = part.type not in ("", "NUMANode") and "cpuset" in part.attributes
        parts.append(_with_cores(part, mine, index) if holds else part)
        if holds:
            inside = set(_cpus(part))
            mine = [core for core in mine if not inside.issuperset(core)]
    made = [_core(core, element, index + 16 * core[0]) for core in mine]
    return replace(element, parts=(*parts, *made))


def _core(cpus: tuple[int, ...], parent: Element, index: int) -> Element:
    sets = {
        key: parent.attributes[key] for key in ("nodeset", "complete_nodeset") if key in parent.attributes
    }

    def made(kind: str, number: int, members: Sequence[int], at: int) -> dict[str, str]:
        bits = write_bitmap(members)
        head = {"type": kind, "os_index": str(number), "cpuset": bits, "complete_cpuset": bits}
        return {**head, **sets, "gp_index": str(at)}

    pus = (Element("object", made("PU", cpu, (cpu,), index + 1 + at)) for at, cpu in enumerate(cpus))
    return Element("object", made("Core", cpus[0], cpus, index), tuple(pus))


def _all(element: Element) -> Iterator[Element]:
    for part in element.objects():
        yield part
        yield from _all(part)


def _number(element: Element, key: str) -> int:
    text = element.attributes.get(key, "")
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(
            f"line {element.line}: {key} of this {element.type} is '{text[:20]}'; expected a number"
        )
    return int(text)


def _cpus(element: Element) -> tuple[int, ...]:
    return members_of(read_bitmap(element.attributes.get("cpuset", "")))
