"""Finds the parser of a kind of output, and gives what it read as JSON values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from slurmwright.discover.parse import (
    ibdev2netdev,
    lscpu,
    lspci_t,
    lstopo,
    numactl,
    nvidia_proc,
    slurmd_c,
    smi_l,
    smi_q,
    topo,
)

#: The names of `slurmwright discover --parse`.
KINDS: Mapping[str, Callable[[str, str], Any]] = {
    "lscpu": lscpu.parse,
    "numactl": numactl.parse,
    "slurmd-c": slurmd_c.parse,
    "nvidia-smi-topo": topo.parse,
    "nvidia-smi-q": smi_q.parse,
    "nvidia-smi-l": smi_l.parse,
    "lspci-t": lspci_t.parse,
    "nvidia-proc": nvidia_proc.parse,
    "ibdev2netdev": ibdev2netdev.parse,
    "lstopo-xml": lstopo.parse,
}


def parse_json(kind: str, text: str, name: str) -> dict[str, object]:
    """What one output of a kind says; raises InputError where it is refused."""
    return asdict(KINDS[kind](text, name))
