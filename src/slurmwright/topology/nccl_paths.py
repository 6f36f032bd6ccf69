"""The elements of a topology to the ways between GPUs and NICs: NCCL's classes and the bandwidth it counts.

Distances grow in the order of `CLASSES`; a way is as far as its farthest link and as wide as its narrowest
(src/graph/paths.cc). Not told: ways through another GPU (NVB, PXN), which are for sending only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.catalogue.nccl_versions import topology_facts
from slurmwright.topology.nccl_build import first_number
from slurmwright.topology.nccl_grammar import Element
from slurmwright.topology.nccl_mistakes import busid_of
from slurmwright.topology.nccl_silent import link_rate, nvlink_row

CLASSES = ("LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS", "NET", "DIS")
_LOC, _NVL, _PIX, _PXB, _PHB, _SYS = (CLASSES.index(c) for c in ("LOC", "NVL", "PIX", "PXB", "PHB", "SYS"))


@dataclass(frozen=True)
class Way:
    """The best way between two devices: its class, and GB/s in one direction."""

    kind: str
    bandwidth: float


@dataclass(frozen=True)
class Matrix:
    """GPUs by bus id and ports by name, in the order of the file, and the way from each GPU to each other."""

    gpus: tuple[str, ...]
    nics: tuple[str, ...]
    ways: dict[tuple[str, str], Way]


@dataclass(frozen=True)
class _Link:
    to: int
    kind: int
    bandwidth: float


class _Graph:
    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.links: list[list[_Link]] = []

    def add(self, kind: str) -> int:
        self.kinds.append(kind)
        self.links.append([])
        return len(self.kinds) - 1

    def join(self, one: int, other: int, kind: int, bandwidth: float) -> None:
        self.links[one].append(_Link(other, kind, bandwidth))
        self.links[other].append(_Link(one, kind, bandwidth))


def path_matrix(system: Element) -> Matrix:
    """Every way of a node that is whole: with its GPUs, NVLinks and ports."""
    graph = _Graph()
    gpus: dict[str, int] = {}
    nics: dict[str, int] = {}
    cpus = [(cpu, graph.add("cpu")) for cpu in system.children]
    for cpu, at in cpus:
        for child in cpu.children:
            _hang(graph, child, at, gpus, nics)
    for one, (cpu, at) in enumerate(cpus):
        for _, other in cpus[one + 1 :]:
            graph.join(at, other, _SYS, between_cpus(cpu))
    _nvlinks(graph, system, gpus)
    names = (*gpus, *nics)
    ends = {**gpus, **nics}
    ways = {}
    for gpu in gpus:
        best = _search(graph, gpus[gpu])
        ways.update({(gpu, name): best[ends[name]] for name in names if name != gpu})
    return Matrix(tuple(gpus), tuple(nics), ways)


def _hang(graph: _Graph, element: Element, above: int, gpus: dict[str, int], nics: dict[str, int]) -> None:
    """One <pci> below a switch or CPU, and what it holds."""
    if element.name != "pci":
        return
    rate = link_rate(element.get("link_speed") or "") * (first_number(element.get("link_width")) or 16) / 16
    held = {child.name for child in element.children}
    if "gpu" in held:
        gpus[element.get("busid") or ""] = at = graph.add("gpu")
        graph.join(at, above, _PIX, rate)
        return
    at = graph.add("nic" if "nic" in held else "pci")
    graph.join(at, above, _PIX, rate)
    for child in element.children:
        if child.name == "nic":
            for net in child.children:
                nics[net.get("name") or ""] = port = graph.add("net")
                graph.join(port, at, _LOC, _port_rate(net))
        else:
            _hang(graph, child, at, gpus, nics)


def _port_rate(net: Element) -> float:
    """Without a speed the plugin tells one at the start; until then the port limits nothing."""
    if net.get("speed") is None:
        return float(topology_facts()["local"])
    speed = first_number(net.get("speed"))
    return (speed if speed > 0 else 10000) / 8000


def _nvlinks(graph: _Graph, system: Element, gpus: dict[str, int]) -> None:
    switch: int | None = None
    for gpu in system.below("gpu"):
        here = gpus[busid_of(gpu)]
        row = nvlink_row(first_number(gpu.get("sm"))) or {"bandwidth": 20.0}
        for link in gpu.children:
            width = first_number(link.get("count")) * row["bandwidth"]
            if (link.get("tclass") or "0x068000").startswith("0x068000"):
                switch = graph.add("nvs") if switch is None else switch
                graph.join(here, switch, _NVL, width)
            elif link.get("target") in gpus:
                graph.links[here].append(_Link(gpus[link.get("target") or ""], _NVL, width))


def between_cpus(cpu: Element) -> float:
    """GB/s that NCCL counts between two CPUs of this kind."""
    facts = topology_facts()
    arch, vendor = cpu.get("arch") or "", cpu.get("vendor") or ""
    if arch in facts["between_cpus"]:
        return float(facts["between_cpus"][arch])
    if vendor == "GenuineIntel":
        family, model = first_number(cpu.get("familyid")), first_number(cpu.get("modelid"))
        table: dict[int, float] = facts["between_intel_cpus"]
        return next(bandwidth for least, bandwidth in table.items() if (model if family == 6 else 0) >= least)
    return float(facts["between_cpus"].get(vendor, facts["local"]))


def _search(graph: _Graph, start: int) -> dict[int, Way]:
    """The nearest, then widest way from one device to all others; no way leads through another GPU."""
    best: dict[int, tuple[int, float]] = {start: (_LOC, float(topology_facts()["local"]))}
    waiting = [start]
    while waiting:
        here = waiting.pop(0)
        if here != start and graph.kinds[here] in ("gpu", "net"):
            continue
        for link, kind in _steps(graph, here):
            found = max(best[here][0], kind), min(best[here][1], link.bandwidth)
            known = best.get(link.to)
            if known is None or found[0] < known[0] or (found[0] == known[0] and found[1] > known[1]):
                best[link.to] = found
                waiting.append(link.to)
    away = Way("DIS", 0.0)
    ways = {node: Way(CLASSES[kind], round(width, 1)) for node, (kind, width) in best.items()}
    return {node: ways.get(node, away) for node in range(len(graph.kinds))}


def _steps(graph: _Graph, here: int) -> Iterator[tuple[_Link, int]]:
    for link in graph.links[here]:
        kinds = {graph.kinds[here], graph.kinds[link.to]}
        if link.kind == _PIX and kinds == {"pci"}:
            yield link, _PXB
        elif link.kind == _PIX and "cpu" in kinds:
            yield link, _PHB
        else:
            yield link, link.kind
