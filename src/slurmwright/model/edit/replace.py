"""A cluster.yaml in which one host has the place of another: group, rack, partitions and topology unit."""

from __future__ import annotations

from slurmwright.core.errors import InputError
from slurmwright.model.edit.pieces import cut_exceptions
from slurmwright.model.edit.text import Document
from slurmwright.model.edit.words import Edited, addresses, cluster_of, group_of, set_hosts, slots


def replace(text: str, file: str, old: str, new: str, address: str = "") -> Edited:
    """Without `address` the new host has that of the old one. What the old host had otherwise than its group
    goes with it."""
    cluster = cluster_of(text, file)
    at = group_of(cluster, old)
    group = cluster.nodes[at]
    if any(new in other.hosts for other in cluster.nodes):
        raise InputError.of(f"'{new}' stands in cluster.yaml already; name a new host")
    document = Document(text, file)
    entry = document.data["nodes"][at]
    set_hosts(entry, "hosts", [new if host == old else host for host in group.hosts])
    notes = []
    where = addresses(group)
    if address and not where:
        raise InputError.of(f"the group of {old} has no addresses; leave --address out, or give it some")
    if address:
        set_hosts(entry, "address", [address if host == old else where[host] for host in group.hosts])
    elif where:
        notes.append(f"{new} has the address of {old}: {where[old]}")
    if old in group.differing():
        cut_exceptions(entry, {old})
        notes.append(f"what {old} had otherwise than its group is taken out")
    for slot in slots(document.data):
        if old in slot.hosts:
            slot.put([new if host == old else host for host in slot.hosts])
    result = document.text()
    return Edited(result, cluster_of(result, file), (new,), (old,), tuple(notes))
