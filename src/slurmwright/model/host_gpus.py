"""Turns a node type, what cluster.yaml says of one host, and its facts into the GPUs that the host has.

Three numbers name a GPU: its *index* on a complete host (PCI order, the order of nvidia-smi), its *minor* (N
of /dev/nvidiaN, given by the driver to the GPUs that it finds, so the numbers close ranks when a GPU is gone
from the bus), and Slurm's own index, which is no matter of this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slurmwright.catalogue.node_types import NodeType
from slurmwright.model.cluster import HostException, NodeGroup
from slurmwright.model.kept_gpus import kept_minors
from slurmwright.model.own_type_checks import normal_pci

if TYPE_CHECKING:
    from slurmwright.model.facts import HostFacts


@dataclass(frozen=True)
class Instance:
    """One MIG instance; `caps` are the minors of its capability files, None where nobody has said them."""

    profile: str
    caps: tuple[int, int] | None


@dataclass(frozen=True)
class HostGpu:
    """One GPU of one host. `numa` is None where it is not known, `pci` is "" then; `withheld`: it is there,
    but jobs do not get it. `instances` are empty where MIG is off."""

    index: int
    minor: int
    numa: int | None
    pci: str = ""
    withheld: bool = False
    instances: tuple[Instance, ...] = ()


def host_gpus(
    node_type: NodeType, group: NodeGroup, exception: HostException | None, facts: HostFacts | None
) -> tuple[HostGpu, ...]:
    """The GPUs of one host by rising minor."""
    withheld = set(exception.gpus_withheld) if exception else set()
    divided = {index: layout for layout in group.mig for index in layout.gpus}
    gpus = []
    kept = kept_minors(group.as_written)
    for index, minor, numa, pci, seen in _found(node_type, exception, facts, kept):
        layout = divided.get(index)
        instances = seen or ()
        if layout is not None and not instances:
            caps = layout.caps or (None,) * len(layout.profiles)
            instances = tuple(Instance(*pair) for pair in zip(layout.profiles, caps, strict=True))
        gpus.append(HostGpu(index, minor, numa, pci, index in withheld, instances))
    return tuple(sorted(gpus, key=lambda gpu: gpu.minor))


def indexes_of(node_type: NodeType, addresses: list[str], missing: tuple[int, ...]) -> list[int]:
    """The index of the GPU at each PCI address: as the type says, or by order where it does not say."""
    known = {normal_pci(gpu.pci): gpu.index for gpu in node_type.gpus if gpu.pci}
    if all(address in known for address in addresses):
        return [known[address] for address in addresses]
    left = [index for index in range(len(addresses) + len(missing)) if index not in missing]
    order = sorted(range(len(addresses)), key=addresses.__getitem__)
    place = {at: left[rank] for rank, at in enumerate(order)}
    return [place[at] for at in range(len(addresses))]


def _found(
    node_type: NodeType,
    exception: HostException | None,
    facts: HostFacts | None,
    kept: tuple[int, ...],
) -> Iterator[tuple[int, int, int | None, str, tuple[Instance, ...] | None]]:
    """(index, minor, NUMA node, PCI address, MIG instances) of each GPU that the driver finds. `kept` are
    the minors that imported lines name, in the order of the indexes."""
    missing = exception.gpus_missing if exception else ()
    if facts is not None and facts.gpus is not None:
        indexes = indexes_of(node_type, [normal_pci(gpu.pci) for gpu in facts.gpus], missing)
        for index, gpu in zip(indexes, facts.gpus, strict=True):
            seen = tuple(Instance(one.profile, one.caps) for one in gpu.mig) if gpu.mig else None
            yield index, gpu.minor, gpu.numa, gpu.pci, seen
        return
    of_index = {gpu.index: gpu for gpu in node_type.gpus}
    present = [index for index in range(node_type.gpu.count) if index not in missing]
    minors = kept if len(kept) == len(present) else range(len(present))
    for minor, index in zip(minors, present, strict=True):
        row = of_index.get(index)
        yield index, minor, row.numa if row else None, (row.pci or "") if row else "", None
