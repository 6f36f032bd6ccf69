"""Decides where `numa_node_as_socket` must stand: for the whole cluster before 25.11, per node from then on.

GPU affinity is a matter of whole Slurm sockets, so a package with several NUMA nodes (NPS, SNC) has to be
shown to Slurm as several sockets. Before 25.11 the switch is in SlurmdParameters and all nodes share it; a
type with one NUMA node per package looks the same under it (seen with slurmd -C of 26.05.5, memory-only NUMA
nodes as on Grace included).
"""

from __future__ import annotations

from collections.abc import Iterable

from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.model.cluster import Cluster
from slurmwright.render.described import Shape

PARAMETER = "numa_node_as_socket"
PER_NODE_SINCE = "25.11"


def for_cluster(release: Release, shapes: Iterable[Shape]) -> bool:
    """Must SlurmdParameters carry the switch?"""
    return not release.at_least(PER_NODE_SINCE) and any(s.layout.splits_sockets for s in shapes)


def check_kept(cluster: Cluster, shapes: Iterable[Shape]) -> None:
    """Raise InputError for an override that would take the switch out of SlurmdParameters again."""
    wanted = {key.lower(): value for key, value in cluster.overrides.get("slurm.conf", {}).items()}
    value = wanted.get("slurmdparameters", {})
    split = sorted({shape.type for shape in shapes if shape.layout.splits_sockets})
    if not isinstance(value, dict) and split and not cluster.slurm.release.at_least(PER_NODE_SINCE):
        raise InputError.of(
            f"overrides: SlurmdParameters would replace {PARAMETER}, which {', '.join(split)} cannot do "
            f"without before Slurm {PER_NODE_SINCE}; write a mapping to add to it, "
            "SlurmdParameters: {WORD: true}"
        )


def for_node(release: Release, shape: Shape) -> bool:
    """Must this node's line carry the switch?"""
    return release.at_least(PER_NODE_SINCE) and shape.layout.splits_sockets


def numa_as_socket(shape: Shape) -> bool:
    """Does slurmd count this node's NUMA nodes as sockets? With the switch on for others nothing changes."""
    return shape.layout.splits_sockets
