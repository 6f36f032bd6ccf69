"""A cluster.yaml without some hosts: out of their groups, partitions, topology units and exceptions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster
from slurmwright.model.edit.pieces import pieces, rewrite
from slurmwright.model.edit.text import Document
from slurmwright.model.edit.words import Edited, by_group, cluster_of, slots
from slurmwright.model.units import units


def remove(text: str, file: str, hosts: Sequence[str]) -> Edited:
    """Raises InputError for a host that is none, and where somebody would be left with no node."""
    cluster, gone = cluster_of(text, file), set(hosts)
    groups = by_group(cluster, hosts)
    if gone == set(chain.from_iterable(group.hosts for group in cluster.nodes)):
        raise InputError.of("these are all nodes of the cluster; a cluster has one at least", file)
    document = Document(text, file)
    for slot in slots(document.data):
        left = [host for host in slot.hosts if host not in gone]
        if not left:
            raise InputError.of(
                f"{slot.what} has no other host than {fold(slot.hosts)}; give it others or take it out first",
                file,
            )
        slot.put(left)
    for at in sorted(groups, reverse=True):
        rewrite(document.data, cluster, at, pieces(cluster, at, lambda host: host not in gone))
    new = document.text()
    after = cluster_of(new, file)
    check_units(cluster, after, gone, file)
    return Edited(new, after, removed=tuple(hosts))


def check_units(before: Cluster, after: Cluster, gone: set[str], file: str) -> None:
    """Raise InputError where a host that stays would stand beside others than before."""
    sides = [_beside(cluster) for cluster in (before, after)]
    for host, members in sides[1].items():
        former = sides[0].get(host)
        if former is not None and members & sides[0].keys() != former - gone:
            raise InputError.of(
                f"{host} would stand in another rack than before, beside {fold(sorted(members))}; edit racks "
                "or topology by hand first",
                file,
            )


def _beside(cluster: Cluster) -> dict[str, frozenset[str]]:
    """host → everybody in its rack or block."""
    if cluster.topology is None or cluster.topology.kind == "flat":
        return {}
    found = units(cluster.topology, cluster.nodes, cluster.node_types)
    return {host: frozenset(unit.hosts) for unit in found for host in unit.hosts}
