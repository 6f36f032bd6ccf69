"""What NVLink, PCIe and networks carry, as numbers in GB/s (1e9 bytes) in one direction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from slurmwright.catalogue.node_types import NodeType
from slurmwright.catalogue.read import DATA, load


@cache
def _facts() -> Mapping[str, Any]:
    return load(DATA / "nccl_speeds.yaml")


@dataclass(frozen=True)
class NvLinkSpeed:
    """One GPU: the line rate, what NCCL counts for a ring, and the gain of NVLS (1.0 without)."""

    line: float
    ring: float
    nvls: float


def nvlink_of(kind: NodeType) -> NvLinkSpeed | None:
    """NVLink between all GPUs of a node; None where GPUs are joined in pairs, over PCIe, or nobody knows."""
    facts, model = _facts(), kind.gpu.model or ""
    if any(word in model.split("-") for word in facts["not_joined"]):
        return None
    found = [gen for name, gen in facts["nvlink_models"].items() if model == name]
    if not found:
        return None
    one = facts["nvlink"][found[0]]
    links = one["links"]
    return NvLinkSpeed(links * one["line"], round(links * one["counted"], 1), one.get("nvls", 1.0))


def slot_of(kind: NodeType) -> float | None:
    """What one adapter's slot carries; None where the generation is not known."""
    speed = _facts()["slot"].get(kind.pcie_gen)
    return None if speed is None else float(speed)


def pcie_of(kind: NodeType) -> float | None:
    """The line rate of a GPU's slot."""
    speed = _facts()["pcie_line"].get(kind.pcie_gen)
    return None if speed is None else float(speed)


def good_ratio(fabric: str) -> float:
    """The part of the expected speed that well-run clusters with such a network reach."""
    return float(_facts()["good"].get(fabric, 0.9))


def flag_ratio() -> float:
    """Below this part of the expected speed something is wrong."""
    return float(_facts()["flag"])
