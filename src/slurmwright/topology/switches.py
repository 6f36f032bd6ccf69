"""Turns the units of a cluster (racks, scalable units, NVLink domains) into a switch tree or into blocks.

A tree has one root whatever the levels say: Slurm never runs a job across hosts without a switch in common.
Block sizes above the base are enforced by Slurm, not only preferred (topology.conf(5)), so none are written
unless asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slurmwright.model.check_topology import base_size
from slurmwright.model.cluster import Cluster, Topology
from slurmwright.model.units import Unit, cut, fresh_names, unit_size, units

#: What the switches of each level above the leaves are called; the one above all of them is `top`.
UPPER = ("spine", "core", "super")
_ROOT = "top"


@dataclass(frozen=True)
class Switch:
    """A switch above others."""

    name: str
    children: tuple[str, ...]


@dataclass(frozen=True)
class Tree:
    """Leaf switches with their hosts, and the switches above, lower ones first."""

    leaves: tuple[Unit, ...]
    upper: tuple[Switch, ...]


@dataclass(frozen=True)
class Blocks:
    """Blocks with their hosts, the size that Slurm plans with, and how often it is doubled at each level."""

    blocks: tuple[Unit, ...]
    base: int
    doublings: tuple[int, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """`BlockSizes`: the base and what the levels make of it."""
        return tuple(self.base << times for times in self.doublings)


def tree_of(cluster: Cluster, topology: Topology) -> Tree:
    """The switch tree that racks or scalable units stand under."""
    leaves = units(topology, cluster.nodes, cluster.node_types)
    if topology.units:
        return Tree(leaves, tuple(Switch(u.name, u.switches) for u in topology.units if u.switches))
    return Tree(leaves, tuple(_upper(tuple(leaf.name for leaf in leaves), topology.levels)))


def blocks_of(cluster: Cluster, topology: Topology) -> Blocks:
    """The blocks of a cluster and the sizes that Slurm keeps together."""
    if topology.sizes:
        base = topology.sizes[0]
        times = tuple((size // base).bit_length() - 1 for size in topology.sizes)
        return Blocks(units(topology, cluster.nodes, cluster.node_types), base, times)
    sizes = [unit_size(topology, group, cluster.node_types[group.type]) for group in cluster.nodes]
    base = base_size(topology, [size for size in sizes if size])
    return Blocks(units(topology, cluster.nodes, cluster.node_types), base, doublings(topology.levels))


def nvlink_domains(cluster: Cluster) -> tuple[Unit, ...]:
    """Hosts that share NVLink memory: what IMEX is told on each of them. None for types without a domain."""
    linked = [g for g in cluster.nodes if (cluster.node_types[g.type].nvlink.block_size or 0) > 1]
    given = cluster.topology
    size = given.size if given and given.kind == "block" else None
    return units(Topology(kind="block", size=size), linked, cluster.node_types)


def doublings(levels: Sequence[int]) -> tuple[int, ...]:
    """(2, 4) → (0, 1, 3): the base itself, two of it, and four of those. `levels` are powers of two."""
    found = [0]
    for joined in levels:
        found.append(found[-1] + joined.bit_length() - 1)
    return tuple(found)


def _upper(below: tuple[str, ...], levels: Sequence[int]) -> Iterator[Switch]:
    taken = set(below)
    for prefix, joined in zip(UPPER, levels, strict=False):
        if len(below) == 1:
            return
        names = fresh_names(prefix, taken)
        switches = [Switch(next(names), children) for children in cut(below, joined)]
        yield from switches
        below = tuple(switch.name for switch in switches)
    if len(below) > 1:
        name = _ROOT if _ROOT not in taken else next(fresh_names(_ROOT, taken))
        yield Switch(name, below)
