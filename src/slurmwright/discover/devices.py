"""Turns the evidence of one host into its GPUs with their minors, the links between them, and its NICs."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from slurmwright.discover import mig
from slurmwright.discover.parse import nvidia_proc, topo
from slurmwright.model.facts import GpuFact, NicFact
from slurmwright.model.own_type_checks import PCI, normal_pci

if TYPE_CHECKING:
    from slurmwright.discover.evidence import Evidence

_GPU_CLASS = ("0x0300", "0x0302")
_NVIDIA = "0x10de"


def gpus(evidence: Evidence, nodes: Collection[int] | None) -> tuple[GpuFact, ...] | None:
    """By PCI address. None where GPUs are on the bus but no driver tells their minors: nobody knows then.
    `nodes` are the NUMA nodes with CPUs; a GPU on another one (Grace: its own memory) is near none."""
    on_bus = _pci_rows(evidence)
    cards = {
        pci
        for pci, row in on_bus.items()
        if row.get("vendor") == _NVIDIA and row.get("class", "").startswith(_GPU_CLASS)
    }
    seen = evidence.read("nvidia-proc", nvidia_proc.parse)
    if seen is None:
        if cards:
            evidence.notes.append(
                f"{len(cards)} GPUs on the PCI bus but no driver: their minors are not known"
            )
        return None if cards or not on_bus else ()
    known = {normal_pci(gpu.pci): gpu for gpu in seen.gpus}
    for pci in sorted(cards - known.keys()):
        evidence.notes.append(f"a GPU at {pci} is on the PCI bus but the driver does not have it")
    queried = _queried(evidence)
    divided = [pci for pci in known if queried.get(pci, {}).get("mig") == "Enabled"]
    migs = mig.instances(evidence, {pci: gpu.minor for pci, gpu in known.items()}) if divided else {}
    evidence.notes.extend(
        f"GPU {pci} has MIG on, but its instances could not all be read" for pci in divided if pci not in migs
    )
    return tuple(
        GpuFact(
            pci=pci,
            minor=gpu.minor,
            numa=_near(_numa(on_bus.get(pci, {})), nodes),
            model=queried.get(pci, {}).get("model") or gpu.model,
            memory_mb=_number(queried.get(pci, {}).get("memory", "")),
            firmware=gpu.vbios.upper() if gpu.vbios and "?" not in gpu.vbios else None,
            pcie_width=_number(on_bus.get(pci, {}).get("current_link_width", "")),
            pcie_width_max=_number(on_bus.get(pci, {}).get("max_link_width", "")),
            mig=() if queried.get(pci, {}).get("mig") in ("Disabled", "[N/A]") else migs.get(pci),
        )
        for pci, gpu in sorted(known.items())
    )


def gpu_links(evidence: Evidence, known: Sequence[GpuFact]) -> tuple[str, ...] | None:
    """The matrix between GPUs; only where it shows as many as the driver has (in a job it may show fewer)."""
    seen = evidence.read("nvidia-smi-topo", topo.parse)
    if seen is None or not known:
        return None
    if len(seen.gpus) != len(known):
        evidence.notes.append(f"nvidia-smi shows {len(seen.gpus)} GPUs, the driver has {len(known)}")
        return None
    names = [gpu.name for gpu in seen.gpus]
    return tuple(" ".join(seen.links[one].get(two, "X") for two in names) for one in names)


def nics(evidence: Evidence) -> tuple[NicFact, ...] | None:
    """RDMA devices by name."""
    on_bus = _pci_rows(evidence)
    rows = [row for row in evidence.rows("infiniband") if row.get("device") and PCI.match(row.get("pci", ""))]
    if not rows:
        return () if on_bus else None
    found = []
    for row in rows:
        pci = normal_pci(row["pci"])
        slot = on_bus.get(pci, {})
        rate = re.match(r"(\d{1,5})(?:\.\d+)?_Gb/sec", row.get("rate", ""), re.ASCII)
        found.append(
            NicFact(
                name=row["device"],
                pci=pci,
                numa=_numa(slot),
                rate_gbps=int(rate[1]) if rate else None,
                link=row.get("link_layer") or None,
                state=row.get("state", "").partition(":_")[2] or None,
                interface=row.get("interface"),
                firmware=row.get("firmware") or None,
                pcie_width=_number(slot.get("current_link_width", "")),
                pcie_width_max=_number(slot.get("max_link_width", "")),
            )
        )
    return tuple(
        sorted(
            found,
            key=lambda nic: [
                int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", nic.name)
            ],
        )
    )


def _pci_rows(evidence: Evidence) -> dict[str, dict[str, str]]:
    rows = (row for row in evidence.rows("pci") if PCI.match(row.get("pci", "")))
    return {normal_pci(row["pci"]): row for row in rows}


def _queried(evidence: Evidence) -> dict[str, dict[str, str]]:
    """`nvidia-smi --query-gpu` by address."""
    found = {}
    for line in evidence.sections.get("nvidia-smi-query", "").splitlines():
        cells = [cell.strip() for cell in line.split(",")]
        if len(cells) == 6 and PCI.match(cells[0]):
            found[normal_pci(cells[0])] = {"model": cells[1], "memory": cells[2], "mig": cells[5]}
    return found


def _numa(row: Mapping[str, str]) -> int | None:
    text = row.get("numa_node", "")
    return int(text) if text.isdecimal() and len(text) < 6 else None


def _near(numa: int | None, nodes: Collection[int] | None) -> int | None:
    return numa if nodes is None or numa in nodes else None


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"\d{1,9}", text, re.ASCII) and int(text) else None
