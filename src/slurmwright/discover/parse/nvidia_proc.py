"""Turns /proc/driver/nvidia/gpus/*/information, one file or many in a row, into GPUs with their minors.

`Device Minor` is the N of /dev/nvidiaN that gres.conf needs; no order of GPUs tells it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slurmwright.discover.parse.lines import Text, shown

_LINE = re.compile(r"\s*([A-Za-z][A-Za-z0-9 ]*?)\s*:(?:\s+(.*?))?\s*\Z", re.ASCII)
_PCI = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]\Z", re.ASCII | re.IGNORECASE)
_NAMES = {
    "Model": "model",
    "GPU UUID": "uuid",
    "Video BIOS": "vbios",
    "GPU Firmware": "firmware",
    "GPU Excluded": "excluded",
}


@dataclass(frozen=True)
class ProcGpu:
    """One GPU of the driver; what its file does not tell is None."""

    pci: str
    minor: int
    model: str | None = None
    uuid: str | None = None
    vbios: str | None = None
    firmware: str | None = None
    excluded: str | None = None


@dataclass(frozen=True)
class ProcGpus:
    """All GPUs, by PCI address."""

    gpus: tuple[ProcGpu, ...]


def parse(text: str, name: str) -> ProcGpus:
    """Raises InputError for files that are cut off and for two GPUs of one minor or address."""
    source = Text.of(text, name)
    gpus: list[ProcGpu] = []
    block: dict[str, tuple[str, int]] = {}
    for number, line in source.numbered():
        found = _LINE.match(line)
        if not found:
            source.refuse(f"'{shown(line.strip())}' is no line of the driver's file", number, 1)
        key, value = found[1], found[2] or ""
        if key == "Model" and block:
            gpus.append(_gpu(source, block, number - 1))
            block = {}
        if key in block:
            source.refuse(f"'{key}' stands twice in one GPU", number, 1)
        block[key] = (value, number)
    if not block:
        source.refuse("no GPU is in it; expected 'Model:', 'Bus Location:' and 'Device Minor:'")
    gpus.append(_gpu(source, block, len(source.lines)))
    for what in ("minor", "pci"):
        values = [getattr(gpu, what) for gpu in gpus]
        twice = next((value for value in values if values.count(value) > 1), None)
        if twice is not None:
            source.refuse(f"two GPUs have the {what} {twice}")
    return ProcGpus(tuple(sorted(gpus, key=lambda gpu: gpu.pci)))


def _gpu(text: Text, block: dict[str, tuple[str, int]], end: int) -> ProcGpu:
    for key in ("Bus Location", "Device Minor"):
        if key not in block:
            text.refuse(f"a GPU without '{key}': its file is cut off", end)
    pci, line = block["Bus Location"]
    if not _PCI.match(pci):
        text.refuse(f"'{shown(pci)}' is no PCI address", line)
    minor, line = block["Device Minor"]
    if not re.fullmatch(r"\d{1,3}", minor, re.ASCII) or int(minor) > 255:
        text.refuse(f"'{shown(minor)}' is no device minor", line)
    known = {name: block[key][0] or None for key, name in _NAMES.items() if key in block}
    return ProcGpu(pci.lower(), int(minor), **known)
