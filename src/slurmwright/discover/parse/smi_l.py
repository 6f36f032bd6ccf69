"""Turns `nvidia-smi -L` into GPUs with their UUIDs and MIG devices.

The index is nvidia-smi's own, in the order of PCI addresses; it is no device minor.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from slurmwright.discover.parse.lines import Text, shown

_GPU = re.compile(r"\s*GPU (\d{1,3}): (.+?) \(UUID: (GPU-[^)\s]+)\)\s*\Z", re.ASCII)
_MIG = re.compile(r"\s+MIG (\S+)\s+Device\s+(\d{1,3}): \(UUID: (MIG-[^)\s]+)\)\s*\Z", re.ASCII)


@dataclass(frozen=True)
class ListedMig:
    """A MIG device: its profile such as 1g.10gb, its number on the GPU, and its UUID."""

    profile: str
    device: int
    uuid: str


@dataclass(frozen=True)
class ListedGpu:
    """A GPU by nvidia-smi's index."""

    index: int
    name: str
    uuid: str
    mig: tuple[ListedMig, ...] = ()


@dataclass(frozen=True)
class SmiList:
    """All GPUs; none where the driver found none."""

    gpus: tuple[ListedGpu, ...]


def parse(text: str, name: str) -> SmiList:
    """Raises InputError for a line that `nvidia-smi -L` does not print and for a number left out."""
    source = Text.of(text, name)
    gpus: list[ListedGpu] = []
    none = False
    for number, line in source.numbered():
        if found := _GPU.match(line):
            if int(found[1]) != len(gpus):
                source.refuse(
                    f"GPU {found[1]} where GPU {len(gpus)} was expected", number, found.start(1) + 1
                )
            gpus.append(ListedGpu(int(found[1]), found[2].strip(), found[3]))
        elif (found := _MIG.match(line)) and gpus:
            mig = (*gpus[-1].mig, ListedMig(found[1], int(found[2]), found[3]))
            if int(found[2]) != len(mig) - 1:
                source.refuse(
                    f"MIG device {found[2]} where {len(mig) - 1} was expected", number, found.start(2) + 1
                )
            gpus[-1] = replace(gpus[-1], mig=mig)
        elif line.strip() == "No devices found.":
            none = True
        else:
            source.refuse(f"'{shown(line.strip())}' is no line of `nvidia-smi -L`", number, 1)
    if not gpus and not none:
        source.refuse("no GPU is in it; expected lines such as 'GPU 0: NVIDIA H100 (UUID: GPU-…)'")
    return SmiList(tuple(gpus))
