"""Turns what is known of a group's memory into the RealMemory of each of its hosts.

RealMemory must stay below what slurmd finds, or the node is refused. Written are 98 % of what was read on the
hosts or seen on such a machine (kernels, firmware and replaced DIMMs take the rest; public sites leave 1 to
7 %), and 95 % of the nominal size where nothing else is known, which is marked as assumed; rounded down to
1000 MB, below 10 GB to 100 MB. Hosts within 2 % of each other share the least of them, so one line describes
them; a host that lost a DIMM gets a line of its own. On Grace only the memory at the CPUs counts, since the
operating system adds the GPUs' memory to the total.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from slurmwright.catalogue import node_types
from slurmwright.catalogue.node_types import NodeType
from slurmwright.model.cluster import NodeGroup
from slurmwright.model.facts import HostFacts

SEEN_SHARE, NOMINAL_SHARE = 0.98, 0.95


@dataclass(frozen=True)
class RealMemory:
    """What is written, in MB, and whether it rests on the nominal size alone."""

    mb: int
    assumed: bool


def memory_known(node_type: NodeType, facts: Iterable[HostFacts]) -> bool:
    """Is there anything to write for hosts of this type?"""
    return _of_type(node_type.memory) is not None or any(own.memory for own in facts)


def group_memory(
    node_type: NodeType, hosts: Sequence[str], facts: Mapping[str, HostFacts]
) -> dict[str, RealMemory]:
    """Host → RealMemory; a host without facts is taken for one like most of its group."""
    read = {host: own.memory.real_memory_mb for host in hosts if (own := facts.get(host)) and own.memory}
    least = _levels(read.values())
    usual = _usual(least[mb] for mb in read.values())
    plain = _of_type(node_type.memory) if usual is None else _seen(node_type.memory, usual)
    if plain is None:
        raise ValueError(f"nothing is known of the memory of {node_type.name}")
    written = {low: _seen(node_type.memory, low) for low in least.values()}
    return {host: written[least[read[host]]] if host in read else plain for host in hosts}


def _levels(sizes: Iterable[int]) -> dict[int, int]:
    """Each size → the least of those that lie within the margin of the greatest one near it."""
    levels: list[list[int]] = []
    for size in sorted(set(sizes), reverse=True):
        if levels and size >= levels[-1][0] * SEEN_SHARE:
            levels[-1].append(size)
        else:
            levels.append([size])
    return {size: level[-1] for level in levels for size in level}


def _usual(levels: Iterable[int]) -> int | None:
    """The level of most hosts, the lower one of two."""
    counted = Counter(levels)
    return min(counted, key=lambda level: (-counted[level], level)) if counted else None


def _of_type(memory: node_types.Memory) -> RealMemory | None:
    if memory.real_memory_mb or memory.cpu_memory_mb:
        return _seen(memory, memory.real_memory_mb or memory.cpu_memory_mb or 0)
    if memory.nominal_gib:
        return RealMemory(_round_down(memory.nominal_gib * 1024 * NOMINAL_SHARE), assumed=True)
    return None


def _seen(memory: node_types.Memory, mb: int) -> RealMemory:
    return RealMemory(_round_down(min(mb, memory.cpu_memory_mb or mb) * SEEN_SHARE), assumed=False)


def _round_down(megabytes: float) -> int:
    step = 1000 if megabytes >= 10_000 else 100
    return int(megabytes) // step * step


def kept_memory(group: NodeGroup) -> RealMemory | None:
    """What an imported file says of the group, as it stands there."""
    mb = group.as_written.real_memory_mb
    return RealMemory(mb, assumed=False) if mb else None


def said_memory(mb: int) -> RealMemory:
    """What is written for a host whose memory cluster.yaml gives."""
    return RealMemory(_round_down(mb * SEEN_SHARE), assumed=False)
