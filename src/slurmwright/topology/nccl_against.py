"""A topology file held against what is known of the node: GPUs that it lacks, devices on another NUMA node,
a GPU and its NIC that no longer share a switch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.catalogue.node_types import NodeType
from slurmwright.topology.nccl_grammar import Element
from slurmwright.topology.nccl_mistakes import NODE, Mistake
from slurmwright.topology.nccl_tree import compute_nics

#: {pci: {"name": …, "numa": …, "near": [pci of NICs below the same switch]}}
Known = Mapping[str, Mapping[str, object]]


def known_devices(kind: NodeType) -> dict[str, dict[str, object]]:
    """GPUs and compute NICs of a type whose bus ids are known."""
    numa = {gpu.index: gpu.numa for gpu in kind.gpus}
    nics = [nic for nic in compute_nics(kind) if nic.pci]
    found: dict[str, dict[str, object]] = {}
    for gpu in kind.gpus:
        if gpu.pci:
            near = [str(nic.pci).lower() for nic in nics if gpu.index in nic.gpus]
            found[gpu.pci.lower()] = {"name": f"GPU{gpu.index}", "numa": gpu.numa, "near": near}
    for nic in nics:
        place = nic.numa if nic.numa is not None or not nic.gpus else numa.get(nic.gpus[0])
        found[str(nic.pci).lower()] = {"name": nic.name, "numa": place, "near": []}
    return found


def node_mistakes(system: Element, known: Known) -> Iterator[Mistake]:
    """Each device of the node that the file lacks or places elsewhere."""
    there = {pci.get("busid") or "": pci for pci in system.below("pci")}
    for busid, facts in known.items():
        pci, name = there.get(busid), facts.get("name")
        if pci is None:
            text = f"{name} ({busid}) is not in the file: NCCL places it by what the machine shows"
            yield Mistake(NODE, "error", 0, text, f'<pci busid="{busid}" …> below its switch')
            continue
        cpu = next((one for one in pci.above if one.name == "cpu"), None)
        numaid, numa = cpu.get("numaid") if cpu else None, facts.get("numa")
        if numa is not None and numaid != str(numa):
            text = f"{name} ({busid}) stands below numaid {numaid}; it is on NUMA node {numa}"
            yield Mistake(NODE, "error", pci.line, text, f"move it below numaid {numa}")
        near = facts.get("near")
        for other in near if isinstance(near, list) else ():
            if other in there and not _share(pci, there[other]):
                text = f"{name} ({busid}) and its NIC {other} share no switch in the file, but in the node"
                yield Mistake(NODE, "error", pci.line, text, "put both below one switch")


def _share(one: Element, other: Element) -> bool:
    above = [id(element) for element in one.above if element.name == "pci"]
    return any(id(element) in above for element in other.above)
