"""A cluster.yaml with more hosts, each like one that is there: its group, partitions and topology unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold, fold_in_order
from slurmwright.model.cluster import Cluster, NodeGroup
from slurmwright.model.edit.remove import check_units
from slurmwright.model.edit.text import Document
from slurmwright.model.edit.words import Edited, addresses, cluster_of, group_of, set_hosts, slots
from slurmwright.model.units import cut

_NUMBER = re.compile(r"(.*?)(\d+)\Z")


def add(text: str, file: str, hosts: Sequence[str], like: str, where: Sequence[str] = ()) -> Edited:
    """`where` are addresses, one for each host; without, they go on as those of the group do.

    Raises InputError where a host stands already, and for what nobody but a person can say.
    """
    cluster = cluster_of(text, file)
    at = group_of(cluster, like)
    group = cluster.nodes[at]
    _refuse_known(cluster, hosts)
    document = Document(text, file)
    entry = document.data["nodes"][at]
    notes: list[str] = []
    if where or group.address:
        new = tuple(where) or tuple(_next_addresses(group, hosts))
        if len(new) != len(hosts):
            raise InputError.of(f"{len(new)} addresses for {len(hosts)} hosts; give one for each")
        if not group.address:
            raise InputError.of(f"the group of {like} has no addresses; leave --address out, or give it some")
        set_hosts(entry, "address", [*group.address, *new])
        notes += [] if where else [f"addresses go on as in the group: {fold_in_order(list(new))}"]
    set_hosts(entry, "hosts", [*group.hosts, *hosts])
    notes += _more_racks(entry, group, hosts)
    notes += _joined(document, cluster, group, hosts, like)
    if like in group.differing():
        notes.append(f"what {like} has otherwise than its group is not taken over")
    result = document.text()
    after = cluster_of(result, file)
    check_units(cluster, after, set(), file)
    return Edited(result, after, added=tuple(hosts), notes=tuple(notes))


def _refuse_known(cluster: Cluster, hosts: Sequence[str]) -> None:
    known = {name for group in cluster.nodes for name in group.hosts}
    there = [host for host in hosts if host in known]
    if there:
        raise InputError.of(f"{fold(there)} stands in cluster.yaml already; name new hosts only")
    if len(set(hosts)) < len(hosts):
        raise InputError.of("a host is named twice; name each host once")


def _next_addresses(group: NodeGroup, hosts: Sequence[str]) -> Iterator[str]:
    """10.20.1.65 for gpu065, where every host of the group has its number plus the same in its last part."""
    rules = {_rule(host, address) for host, address in addresses(group).items()}
    if len(rules) == 1 and (rule := rules.pop()) is not None:
        for host in hosts:
            match = _NUMBER.match(host)
            number = int(match[2]) + rule[2] if match and match[1] == rule[0] else -1
            if not 0 < number < 255:
                break
            yield f"{rule[1]}{number}"
        else:
            return
    raise InputError.of(
        f"the address of {hosts[0]} does not follow from its group's; give --address, one for each host"
    )


def _rule(host: str, address: str) -> tuple[str, str, int] | None:
    """(prefix of the host, prefix of the address, what is added to the number)."""
    name, ip = _NUMBER.match(host), re.match(r"(\d+\.\d+\.\d+\.)(\d+)\Z", address)
    return (name[1], ip[1], int(ip[2]) - int(name[2])) if name and ip else None


def _more_racks(entry: object, group: NodeGroup, hosts: Sequence[str]) -> Iterator[str]:
    """Names for racks that begin, and who comes into the rack that was not full."""
    if group.racks is None:
        return
    size = group.racks.size
    before, after = len(cut(group.hosts, size)), len(cut((*group.hosts, *hosts), size))
    room = -len(group.hosts) % size
    if room:
        yield f"{fold(hosts[:room])} stand in the rack of {group.hosts[-1]}, which was not full"
    if group.racks.names and after > before:
        names = list(expand(group.racks.names))
        match = _NUMBER.match(names[-1])
        if match is None:
            raise InputError.of(f"what comes after rack {names[-1]} is not known; name more racks first")
        width, last = len(match[2]), int(match[2])
        fresh = [f"{match[1]}{last + number:0{width}d}" for number in range(1, after - before + 1)]
        racks = entry["racks"]  # type: ignore[index] # a mapping of ruamel's
        racks["names"] = DoubleQuotedScalarString(fold_in_order([*names, *fresh]))
        yield f"new racks: {fold(fresh)}"


def _joined(
    document: Document, cluster: Cluster, group: NodeGroup, hosts: Sequence[str], like: str
) -> Iterator[str]:
    """Into the unit of `like`, and into its partitions where no partition would have them otherwise."""
    mine = [part for part in cluster.partitions if like in part.nodes.select(cluster.nodes)]
    widened = [part for part in mine if part.nodes.all or group.type in part.nodes.type]
    widened += [part for part in mine if not set(part.nodes.feature).isdisjoint(group.features)]
    for slot in slots(document.data):
        if like not in slot.hosts:
            continue
        if slot.what.startswith("partition ") and widened:
            yield f"{slot.what} names its hosts one by one and stays as it is"
        else:
            slot.put([*slot.hosts, *hosts])
            yield f"{slot.what} has them too"
