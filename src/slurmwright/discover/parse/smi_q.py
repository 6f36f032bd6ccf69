"""Turns `nvidia-smi -q` into the driver and its GPUs: addresses, minors, memory, MIG, PCIe link, firmware.

The output is a tree by indentation; the same word stands in many places, so values are found by their way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slurmwright.discover.parse.lines import Text, shown

_PCI = re.compile(r"GPU ([0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[01][0-9A-Fa-f]\.[0-7])\s*\Z", re.ASCII)
_TOP = {"Driver Version": "driver", "CUDA Version": "cuda"}
_LINK = ("PCI", "GPU Link Info")
#: Field of QueriedGpu → its way in the tree, and the unit behind its number ("" for a plain one).
_WORDS = {
    "model": ("Product Name",),
    "serial": ("Serial Number",),
    "uuid": ("GPU UUID",),
    "vbios": ("VBIOS Version",),
    "mig": ("MIG Mode", "Current"),
    "mig_pending": ("MIG Mode", "Pending"),
    "ecc": ("ECC Mode", "Current"),
    "fabric": ("Fabric", "State"),
}
_NUMBERS = {
    "minor": (("Minor Number",), ""),
    "module": (("Module ID",), ""),
    "memory_mib": (("FB Memory Usage", "Total"), " MiB"),
    "pcie_gen": ((*_LINK, "PCIe Generation", "Current"), ""),
    "pcie_gen_max": ((*_LINK, "PCIe Generation", "Max"), ""),
    "pcie_width": ((*_LINK, "Link Width", "Current"), "x"),
    "pcie_width_max": ((*_LINK, "Link Width", "Max"), "x"),
}


_MIG = "MIG Device"
_MIG_FIELDS = {"Index": "index", "GPU Instance ID": "gpu_instance", "Compute Instance ID": "compute_instance"}


@dataclass(frozen=True)
class QueriedMig:
    """One MIG device: its number on the GPU, and the two instances that it is."""

    index: int
    gpu_instance: int
    compute_instance: int


@dataclass(frozen=True)
class QueriedGpu:
    """One GPU; None where nvidia-smi prints N/A or nothing."""

    pci: str
    model: str | None = None
    serial: str | None = None
    uuid: str | None = None
    vbios: str | None = None
    mig: str | None = None
    mig_pending: str | None = None
    ecc: str | None = None
    fabric: str | None = None
    minor: int | None = None
    module: int | None = None
    memory_mib: int | None = None
    pcie_gen: int | None = None
    pcie_gen_max: int | None = None
    pcie_width: int | None = None
    pcie_width_max: int | None = None
    mig_devices: tuple[QueriedMig, ...] = ()


@dataclass(frozen=True)
class SmiQuery:
    """Driver and CUDA versions, and all GPUs in the order of the output."""

    driver: str | None
    cuda: str | None
    gpus: tuple[QueriedGpu, ...]


@dataclass(frozen=True)
class _Leaf:
    path: tuple[str, ...]
    value: str
    line: int
    column: int


def parse(text: str, name: str) -> SmiQuery:
    """Raises InputError for what is no `nvidia-smi -q`, and for fewer GPUs than it says are attached."""
    source = Text.of(text, name)
    if not any("NVSMI LOG" in line for line in source.lines):
        source.refuse("no 'NVSMI LOG' is in it; expected the output of `nvidia-smi -q`", 1)
    top: dict[str, _Leaf] = {}
    blocks: dict[str, dict[tuple[str, ...], _Leaf]] = {}
    migs: dict[str, list[list[_Leaf]]] = {}
    for leaf in _leaves(source):
        address = _PCI.match(leaf.path[0])
        if address and len(leaf.path) == 1:
            if address[1].lower() in blocks:
                source.refuse(f"GPU {address[1]} stands twice", leaf.line, 1)
            blocks[address[1].lower()] = {}
        elif address and leaf.path[1] == _MIG:
            _mig_line(leaf, migs.setdefault(address[1].lower(), []))
        elif address:
            blocks[address[1].lower()].setdefault(leaf.path[1:], leaf)
        elif len(leaf.path) == 1:
            top.setdefault(leaf.path[0], leaf)
    gpus = tuple(_gpu(source, pci, leaves, migs.get(pci, ())) for pci, leaves in blocks.items())
    _check_count(source, top.get("Attached GPUs"), len(gpus))
    driver, cuda = (_word(top.get(key)) for key in _TOP)
    return SmiQuery(driver, cuda, gpus)


def _leaves(text: Text) -> Iterator[_Leaf]:
    """Every line with the way to it: a line belongs to the last one that is indented less."""
    open_: list[tuple[int, str]] = []
    for number, line in text.numbered():
        if line.startswith("="):
            continue
        indent = len(line) - len(line.lstrip())
        key, colon, value = line.partition(" : ")
        while open_ and open_[-1][0] >= indent:
            open_.pop()
        open_.append((indent, key.strip()))
        path = tuple(word for _, word in open_)
        yield _Leaf(path, value.strip(), number, len(key) + len(colon) + 1)


def _word(leaf: _Leaf | None) -> str | None:
    return leaf.value if leaf and leaf.value not in ("", "N/A", "[N/A]") else None


def _number(text: Text, leaf: _Leaf | None, unit: str) -> int | None:
    value = _word(leaf)
    if leaf is None or value is None:
        return None
    digits = value.removesuffix(unit) if unit else value
    if not re.fullmatch(r"\d{1,9}", digits, re.ASCII):
        text.refuse(f"{leaf.path[-1]} is '{shown(value)}'; expected a number{unit}", leaf.line, leaf.column)
    return int(digits)


def _mig_line(leaf: _Leaf, found: list[list[_Leaf]]) -> None:
    """Every "MIG Device" line begins one; the same way leads to all of them."""
    if len(leaf.path) == 2:
        found.append([])
    elif len(leaf.path) == 3 and found:
        found[-1].append(leaf)


def _mig(text: Text, leaves: Sequence[_Leaf]) -> QueriedMig:
    known = {leaf.path[2]: _number(text, leaf, "") for leaf in leaves if leaf.path[2] in _MIG_FIELDS}
    numbers = {field: known.get(key) for key, field in _MIG_FIELDS.items()}
    if None in numbers.values():
        where = leaves[0] if leaves else None
        text.refuse("a MIG device without its three numbers; it is cut off", where.line if where else 0)
    return QueriedMig(**numbers)  # type: ignore[arg-type] # None was refused


def _gpu(
    text: Text, pci: str, leaves: Mapping[tuple[str, ...], _Leaf], migs: Sequence[Sequence[_Leaf]]
) -> QueriedGpu:
    words = {field: _word(leaves.get(path)) for field, path in _WORDS.items()}
    numbers = {field: _number(text, leaves.get(path), unit) for field, (path, unit) in _NUMBERS.items()}
    devices = tuple(_mig(text, mig) for mig in migs)
    return QueriedGpu(pci, **words, **numbers, mig_devices=devices)  # type: ignore[arg-type] # types as in the tables


def _check_count(text: Text, leaf: _Leaf | None, seen: int) -> None:
    said = _number(text, leaf, "")
    if said is None and not seen:
        text.refuse("neither a GPU nor 'Attached GPUs' is in it; it is cut off", len(text.lines))
    if said is not None and said != seen:
        text.refuse(f"says {said} attached GPUs but shows {seen}; it is cut off", leaf.line if leaf else 0, 1)
