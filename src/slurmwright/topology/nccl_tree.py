"""A node type to the tree that NCCL needs of it, or to the facts that are missing; nothing is made up.

Only what decides distances is told: NUMA nodes with their CPUs, which GPUs and NICs share a switch, and link
speeds. The switches' own bus ids are not in the catalogue, so they stand in domain ffff, as in the files of
Azure and AWS: NCCL then hangs the devices below them, whatever the machine shows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.catalogue.nccl_versions import topology_facts
from slurmwright.catalogue.node_types import Gpu, Nic, NodeType
from slurmwright.topology.cpus import CpuLayout, layout_of
from slurmwright.topology.nccl_masks import cpus_mask

_BY_PCI = re.compile(r"(?:rdma|roce|ib|iw|opa)(?:P(\d{1,5}))?p(\d{1,3})s(\d{1,2})(?:f(\d))?\Z", re.ASCII)

Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Box:
    """One element: its name, its attributes in order, and what it holds."""

    name: str
    attributes: Attributes = ()
    inside: tuple[Box, ...] = ()


@dataclass(frozen=True)
class TypeTree:
    """The skeleton that NCCL_TOPO_FILE takes, and the whole node with GPUs, NVLinks and ports to reckon with.

    `unknown` are words about links that the catalogue does not tell."""

    skeleton: Box
    whole: Box
    unknown: tuple[str, ...] = ()


def missing_facts(kind: NodeType, layout: CpuLayout | None = None) -> tuple[str, ...]:
    """What must be known of a type before a file for it can be written; `layout` is that of a host."""
    return tuple(_missing(kind, layout or layout_of(kind.cpu)))


def _missing(kind: NodeType, layout: CpuLayout | None) -> Iterator[str]:
    if not kind.gpu.count or _capability(kind) is None:
        yield "gpu.model and gpu.count of an NVIDIA GPU"
    if len(kind.gpus) != kind.gpu.count:
        yield f"gpus: {kind.gpu.count} of them, each {{index, pci, numa}}"
    for word, lost in (
        ("pci", [g.index for g in kind.gpus if g.pci is None]),
        ("numa", [g.index for g in kind.gpus if g.numa is None]),
    ):
        if lost:
            yield f"{word} of GPU {', '.join(map(str, lost))}"
    if layout is None:
        yield "cpu: sockets, cores_per_socket, threads_per_core, numa_per_socket and numbering"
    elif not {gpu.numa for gpu in kind.gpus if gpu.numa is not None} <= {node.id for node in layout.nodes}:
        yield "a cpu layout with the NUMA nodes of the GPUs"
    if len(_cpu_rows(kind)) != 1:
        yield "cpu.model that names one CPU"
    if kind.pcie_gen not in topology_facts()["link_speed_of_gen"]:
        yield "pcie_gen"
    count = kind.network.compute_count
    compute = compute_nics(kind)
    if count is None or (count and not compute):
        yield "network.compute_count and network.devices with role compute"
    for nic in compute:
        if nic.pci is None:
            yield f"pci of NIC {nic.name}"
        if _numa_of(kind, nic) is None:
            yield f"numa or gpus of NIC {nic.name}"


def compute_nics(kind: NodeType) -> tuple[Nic, ...]:
    """The NICs that carry training: those of the list, else those that GPUs name by their bus ids."""
    listed = tuple(nic for nic in kind.network.devices if nic.role == "compute")
    if listed:
        return listed
    names = dict.fromkeys(name for gpu in kind.gpus for name in gpu.nics)
    found = []
    for name in names:
        gpus = tuple(gpu.index for gpu in kind.gpus if name in gpu.nics)
        found.append(Nic(name=name, pci=pci_of_name(name), role="compute", gpus=gpus))
    return tuple(found)


def pci_of_name(name: str) -> str | None:
    """`rdmap16s27` → 0000:10:1b.0: rdma-core names devices by domain, bus, slot and function in decimal
    (rdma_rename, NAME_PCI)."""
    match = _BY_PCI.match(name)
    if not match:
        return None
    domain, bus, slot, function = (int(number or 0) for number in match.groups())
    return f"{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"


def type_tree(kind: NodeType, layout: CpuLayout | None = None) -> TypeTree:
    """The tree of a type of which nothing is missing; with the CPUs of a host where they are given."""
    layout, unknown = layout or _layout(kind), []
    links, note = _nvlinks(kind)
    unknown += [note] if note else []
    skeletons, wholes = [], []
    switches = _switches(kind)
    for node in layout.nodes:
        here = [one for one in switches if one.numa == node.id]
        if not here:
            continue
        cpus = {cpu for core in node.cores for cpu in core}
        attributes = (("numaid", str(node.id)), ("affinity", cpus_mask(cpus, layout.cpus)), *_cpu(kind))
        skeletons.append(Box("cpu", attributes, tuple(b for s in here for b in s.boxes(kind, None))))
        wholes.append(Box("cpu", attributes, tuple(b for s in here for b in s.boxes(kind, links))))
    version = (("version", "1"),)
    return TypeTree(
        Box("system", version, tuple(skeletons)), Box("system", version, tuple(wholes)), tuple(unknown)
    )


@dataclass(frozen=True)
class _Switch:
    """GPUs and NICs below one switch; number 0 for one device at the CPU itself. `deep` where another
    bridge stands between each GPU and its NIC (PXB)."""

    number: int
    numa: int
    gpus: tuple[Gpu, ...]
    nics: tuple[Nic, ...]
    deep: bool = False

    def boxes(self, kind: NodeType, links: dict[int, tuple[Box, ...]] | None) -> tuple[Box, ...]:
        gpus = tuple(_gpu_box(kind, gpu, links) for gpu in self.gpus)
        nics = tuple(_nic_boxes(kind, self.nics, links is not None))
        if not self.number:
            return (*gpus, *nics)
        if self.deep:
            gpus = tuple(
                _pci(kind, f"ffff:ff:{self.number:02x}.{at + 1}", "0x060400", (box,))
                for at, box in enumerate(gpus)
            )
        return (_pci(kind, f"ffff:ff:{self.number:02x}.0", "0x060400", (*gpus, *nics)),)


def _switches(kind: NodeType) -> tuple[_Switch, ...]:
    """GPUs that share a NIC stand below one switch; a NIC or GPU without the other at its CPU."""
    groups: list[tuple[set[int], list[Nic]]] = []
    alone = []
    for nic in compute_nics(kind):
        if not nic.gpus:
            alone.append(_Switch(0, _numa_of(kind, nic) or 0, (), (nic,)))
            continue
        joined = [group for group in groups if group[0] & set(nic.gpus)]
        gpus = set(nic.gpus).union(*(group[0] for group in joined))
        nics = [*(one for group in joined for one in group[1]), nic]
        groups = [group for group in groups if group not in joined] + [(gpus, nics)]
    by_index = {gpu.index: gpu for gpu in kind.gpus}
    placed = set().union(*(gpus for gpus, _ in groups)) if groups else set()
    deep = bool(re.search(r"\bPXB\b", kind.pcie_note or ""))
    found = [
        _Switch(
            number, by_index[min(gpus)].numa or 0, tuple(by_index[i] for i in sorted(gpus)), tuple(nics), deep
        )
        for number, (gpus, nics) in enumerate(sorted(groups, key=lambda group: min(group[0])), 1)
    ]
    alone += [_Switch(0, gpu.numa or 0, (gpu,), ()) for gpu in kind.gpus if gpu.index not in placed]
    return (*found, *alone)


def _gpu_box(kind: NodeType, gpu: Gpu, links: dict[int, tuple[Box, ...]] | None) -> Box:
    inside: tuple[Box, ...] = ()
    if links is not None:
        attributes = (("dev", str(gpu.index)), ("sm", str(_capability(kind))))
        inside = (Box("gpu", attributes, links.get(gpu.index, ())),)
    return _pci(kind, gpu.pci or "", "0x030200", inside)


def _nic_boxes(kind: NodeType, nics: tuple[Nic, ...], whole: bool) -> Iterator[Box]:
    """One <pci> for each card: two ports of one card share its bus id."""
    for pci in dict.fromkeys(nic.pci or "" for nic in nics):
        ports = [nic for nic in nics if nic.pci == pci]
        nets = tuple(Box("net", (("name", nic.name), *_rate(kind, nic))) for nic in ports)
        yield _pci(kind, pci, "0x020000", (Box("nic", (), nets),) if whole else ())


def _rate(kind: NodeType, nic: Nic) -> Attributes:
    rate = nic.rate_gbps or kind.network.compute_rate_gbps
    return (("speed", str(rate * 1000)),) if rate else ()


def _pci(kind: NodeType, busid: str, class_: str, inside: tuple[Box, ...]) -> Box:
    speed = topology_facts()["link_speed_of_gen"][kind.pcie_gen]
    attributes = (("busid", busid.lower()), ("class", class_), ("link_speed", speed), ("link_width", "16"))
    return Box("pci", attributes, inside)


def _nvlinks(kind: NodeType) -> tuple[dict[int, tuple[Box, ...]], str]:
    """NVLinks of each GPU by the label of its row in `nvidia-smi topo -m`, and what it does not tell."""
    label = kind.nvlink.label or ""
    match = re.match(r"NV(\d{1,2})\b", label)
    indexes = [gpu.index for gpu in kind.gpus]
    if not match:
        return {}, "" if label in ("", "none") else f"NVLink: {label}"
    count = match[1]
    if label == match[0] and len(indexes) > 2:
        switch = Box("nvlink", (("target", "fffffff:ffff:ff"), ("count", count), ("tclass", "0x068000")))
        return dict.fromkeys(indexes, (switch,)), ""
    bus = {gpu.index: gpu.pci or "" for gpu in kind.gpus}
    each = "per pair" in label
    if not each and not re.search(r"in (bridged )?pairs|between 0-1 and 2-3", label):
        return {}, f"NVLink: {label}"
    return {
        one: tuple(
            Box("nvlink", (("target", bus[other].lower()), ("count", count), ("tclass", "0x030200")))
            for other in indexes
            if other != one and (each or other // 2 == one // 2)
        )
        for one in indexes
    }, ""


def _layout(kind: NodeType) -> CpuLayout:
    found = layout_of(kind.cpu)
    assert found is not None  # noqa: S101 - asked for by `missing_facts`
    return found


def _numa_of(kind: NodeType, nic: Nic) -> int | None:
    if nic.numa is not None:
        return nic.numa
    by_index = {gpu.index: gpu.numa for gpu in kind.gpus}
    return by_index.get(nic.gpus[0]) if nic.gpus else None


def _capability(kind: NodeType) -> int | None:
    table: dict[str, int] = topology_facts()["compute_capability"]
    return next((sm for name, sm in table.items() if (kind.gpu.model or "").startswith(name)), None)


def _cpu_rows(kind: NodeType) -> list[dict[str, str | int]]:
    """What is known of the CPU by its name; several names of one kind are one."""
    model = kind.cpu.model or ""
    rows = [row for row in topology_facts()["cpu_words"] if re.search(row["match"], model)]
    found = [{key: value for key, value in row.items() if key != "match"} for row in rows]
    return [row for at, row in enumerate(found) if row not in found[:at]]


def _cpu(kind: NodeType) -> Attributes:
    row = _cpu_rows(kind)[0]
    arch = str(row.get("arch", "x86_64"))
    return (
        ("arch", arch),
        *((key, str(row[key])) for key in ("vendor", "familyid", "modelid") if key in row),
    )
