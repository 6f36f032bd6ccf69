"""Turns groups of hosts into the units of a topology: leaf switches of a tree, or blocks.

A unit never spans groups, unless two groups name the same rack: then their hosts stand in it together. Units
come in the order of cluster.yaml, which decides what block topologies put side by side (topology.conf(5)).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.hosts import expand
from slurmwright.model.cluster import NodeGroup, Topology

_PREFIX = {"tree": "leaf", "block": "block"}


@dataclass(frozen=True)
class Unit:
    """Hosts below one leaf switch, or in one block."""

    name: str
    hosts: tuple[str, ...]


def unit_size(topology: Topology, group: NodeGroup, node_type: NodeType) -> int | None:
    """Hosts of a full unit of this group; None where neither topology nor racks nor the type says it.

    Named units may hold any number of hosts; for Slurm the first of their sizes counts, or the widest unit.
    """
    if topology.units:
        widest = max((len(unit.nodes) for unit in topology.units), default=0)
        return topology.sizes[0] if topology.sizes else widest or None
    racks = group.racks.size if group.racks else None
    domain = node_type.nvlink.block_size if topology.kind == "block" else None
    return topology.size or domain or racks


def units(topology: Topology, groups: Sequence[NodeGroup], types: Mapping[str, NodeType]) -> tuple[Unit, ...]:
    """All units in the order of cluster.yaml; hosts whose group has no unit size are left out."""
    if topology.units:
        return tuple(Unit(unit.name, unit.nodes) for unit in topology.units if unit.nodes)
    taken = {name for group in groups for name in _rack_names(group)}
    fresh = fresh_names(_PREFIX.get(topology.kind, "unit"), taken)
    hosts_of: dict[str, list[str]] = {}
    for group in groups:
        size = unit_size(topology, group, types[group.type])
        if size is None:
            continue
        given = _rack_names(group) if group.racks and group.racks.size == size else ()
        for at, hosts in enumerate(cut(group.hosts, size)):
            hosts_of.setdefault(given[at] if given else next(fresh), []).extend(hosts)
    return tuple(Unit(name, tuple(hosts)) for name, hosts in hosts_of.items())


def cut(hosts: Sequence[str], size: int) -> tuple[tuple[str, ...], ...]:
    """Pieces of `size` hosts in order; the last may hold fewer."""
    return tuple(tuple(hosts[at : at + size]) for at in range(0, len(hosts), size))


def fresh_names(prefix: str, taken: set[str]) -> Iterator[str]:
    """`leaf1`, `leaf2`, … without those that racks are called already."""
    number = 0
    while True:
        number += 1
        if f"{prefix}{number}" not in taken:
            yield f"{prefix}{number}"


def _rack_names(group: NodeGroup) -> tuple[str, ...]:
    return expand(group.racks.names) if group.racks and group.racks.names else ()
