"""What a correct cluster must show: nodes by their hardware, and what the topology keeps together."""

from __future__ import annotations

from dataclasses import dataclass

from slurmwright.model.cluster import Cluster
from slurmwright.model.units import unit_size, units
from slurmwright.verify.expect import ExpectedGpu as ExpectedGpu
from slurmwright.verify.expect import ExpectedNode as ExpectedNode
from slurmwright.verify.expect import expected_nodes as expected_nodes


@dataclass(frozen=True)
class ExpectedUnit:
    """Hosts that one leaf switch or block joins and that are given out with the same weight. A job of up to
    `fits` nodes must stay there."""

    name: str
    kind: str
    hosts: tuple[str, ...]
    fits: int
    weight: int


def expected_units(cluster: Cluster) -> tuple[ExpectedUnit, ...]:
    """What the racks of cluster.yaml say belongs together; nothing for a flat network."""
    topology = cluster.topology
    if topology is None or topology.kind == "flat":
        return ()
    weights = {host: group.weight or 1 for group in cluster.nodes for host in group.hosts}
    sizes = [unit_size(topology, group, cluster.node_types[group.type]) for group in cluster.nodes]
    widest = max(size or 1 for size in sizes)
    if topology.kind == "block":
        # Slurm plans with the base size: a wider job may take several blocks, each in part.
        widest = topology.base or min(size or 1 for size in sizes)
    kind = "leaf switch" if topology.kind == "tree" else "block"
    found = []
    for unit in units(topology, cluster.nodes, cluster.node_types):
        for weight in dict.fromkeys(weights[host] for host in unit.hosts):
            hosts = tuple(host for host in unit.hosts if weights[host] == weight)
            found.append(ExpectedUnit(unit.name, kind, hosts, min(widest, len(hosts)), weight))
    return tuple(found)
