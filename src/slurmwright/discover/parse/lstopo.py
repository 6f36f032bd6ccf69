"""Turns the XML of lstopo into packages, NUMA nodes, GPUs and NICs with the NUMA node each hangs below."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.core.cpu_list import MAX_CPU, fold_cpus
from slurmwright.core.errors import InputError
from slurmwright.discover.parse.lines import shown
from slurmwright.topology.hwloc_text import Element, members_of, read_bitmap, read_topology

_GPU = re.compile(r"030[02] \[10de:")
_NIC = re.compile(r"02\d\d ")
#: hwloc's number of OpenFabrics devices, and of network ones.
_RDMA, _NETWORK = "3", "2"


@dataclass(frozen=True)
class XmlNode:
    """A NUMA node: its package (None outside of all), its CPUs and its memory in bytes."""

    id: int
    package: int | None
    cpus: str | None
    memory_bytes: int | None


@dataclass(frozen=True)
class XmlDevice:
    """A PCI device: vendor and device id, the NUMA node (None where it hangs below several), its RDMA and
    network names, and the speed of its link in GB/s where hwloc saw one."""

    pci: str
    id: str
    numa: int | None
    rdma: str | None
    interface: str | None
    link_gbytes: float | None


@dataclass(frozen=True)
class Lstopo:
    """The machine; `threads_per_core` is None where the export holds no cores or uneven ones."""

    packages: int
    cores: int | None
    threads_per_core: int | None
    numa: tuple[XmlNode, ...]
    gpus: tuple[XmlDevice, ...]
    nics: tuple[XmlDevice, ...]


def parse(text: str, name: str) -> Lstopo:
    """Raises InputError for what is no export of hwloc 2 or has numbers that are none."""
    root = read_topology(text, name)
    try:
        walked = list(_walk(root, None, None))
        numa = sorted((_node(*one) for one in walked if one[0].type == "NUMANode"), key=lambda node: node.id)
        devices = [_device(*one) for one in walked if one[0].type == "PCIDev"]
    except ValueError as error:
        raise InputError.of(str(error), name) from None
    packages = {package for _, package, _ in walked if package is not None}
    cores = [element for element, _, _ in walked if element.type == "Core"]
    threads = {sum(1 for part in _below(core) if part.type == "PU") for core in cores}
    if not numa:
        raise InputError.of("holds no NUMA node; expected an export of a whole machine", name)
    devices.sort(key=lambda pair: pair[1].pci)
    return Lstopo(
        len(packages),
        len(cores) or None,
        threads.pop() if len(threads) == 1 else None,
        tuple(numa),
        tuple(device for kind, device in devices if _GPU.match(kind)),
        tuple(device for kind, device in devices if _NIC.match(kind)),
    )


_Walked = tuple[Element, "int | None", "int | None"]


def _walk(element: Element, package: int | None, numa: int | None) -> Iterator[_Walked]:
    """Every object with its package and with the one NUMA node it lies below or beside."""
    for part in element.objects():
        own = _number(part, "os_index") if part.type == "Package" else package
        nodes = [one for one in part.objects() if one.type == "NUMANode"]
        inside = _number(nodes[0], "os_index") if len(nodes) == 1 else None if nodes else numa
        yield part, own, inside
        yield from _walk(part, own, inside)


def _below(element: Element) -> Iterator[Element]:
    for part in element.objects():
        yield part
        yield from _below(part)


def _number(element: Element, key: str) -> int:
    text = element.attributes.get(key, "")
    if not re.fullmatch(r"\d{1,18}", text, re.ASCII):
        raise ValueError(f"line {element.line}: {key} is '{shown(text)}'; expected a number")
    return int(text)


def _node(element: Element, package: int | None, _: int | None) -> XmlNode:
    cpus = members_of(read_bitmap(element.attributes.get("cpuset", "0x0")))
    if cpus and cpus[-1] > MAX_CPU:
        raise ValueError(f"line {element.line}: a CPU above {MAX_CPU} is none")
    memory = _number(element, "local_memory") if "local_memory" in element.attributes else None
    return XmlNode(_number(element, "os_index"), package, fold_cpus(cpus) if cpus else None, memory)


def _device(element: Element, _: int | None, numa: int | None) -> tuple[str, XmlDevice]:
    kind = element.attributes.get("pci_type", "")
    found = re.search(r"\[([0-9a-f]{4}:[0-9a-f]{4})\]", kind)
    names = {part.attributes.get("osdev_type"): part.attributes.get("name") for part in element.objects()}
    try:
        speed = float(element.attributes.get("pci_link_speed", "0"))
    except ValueError:
        raise ValueError(f"line {element.line}: pci_link_speed is no number") from None
    device = XmlDevice(
        element.attributes.get("pci_busid", ""),
        found[1] if found else "",
        numa,
        names.get(_RDMA),
        names.get(_NETWORK),
        round(speed, 3) if 0 < speed < 10_000 else None,
    )
    return kind, device
