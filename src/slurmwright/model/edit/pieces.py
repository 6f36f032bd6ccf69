"""A group of nodes to the groups that say the same of fewer or differing hosts, each host in its own rack.

What surprises: racks are counted off in host order, so taking one host out of the middle would move every
later host into another rack. The group is cut there, and the racks named; two groups may name the same rack.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.scalarstring import DoubleQuotedScalarString

from slurmwright.core.hosts import expand, fold_in_order
from slurmwright.model.cluster import Cluster, Topology
from slurmwright.model.edit.words import addresses, set_hosts
from slurmwright.model.units import cut, unit_size, units


@dataclass(frozen=True)
class Piece:
    """Hosts that stay one group. `racks` are the names of their racks, None where no order counts."""

    hosts: tuple[str, ...]
    racks: tuple[str, ...] | None = None
    chosen: bool = False


def pieces(
    cluster: Cluster, at: int, keep: Callable[[str], bool], chosen: Callable[[str], bool] = lambda _: False
) -> tuple[Piece, ...]:
    """The kept hosts of a group, cut where chosen ones begin or end and where a rack is not full."""
    group = cluster.nodes[at]
    size, named = _racks(cluster, at)
    if size is None:
        return tuple(Piece(hosts, None, mine) for hosts, mine in _runs(group.hosts, keep, chosen))
    found: list[Piece] = []
    full = False
    for name, members in zip(named, cut(group.hosts, size), strict=True):
        for hosts, mine in _runs(members, keep, chosen):
            last = found[-1] if found else None
            if last is not None and full and last.chosen == mine:
                found[-1] = Piece(last.hosts + hosts, (*(last.racks or ()), name), mine)
            else:
                found.append(Piece(hosts, (name,), mine))
            full = len(hosts) == size
    return tuple(found)


def rewrite(data: Any, cluster: Cluster, at: int, parts: Sequence[Piece]) -> list[Any]:
    """Put these groups in the place of one; the entries, in order. With none, the entry goes."""
    entries, group = data["nodes"], cluster.nodes[at]
    if not parts:
        del entries[at]
        return []
    # The last keeps the entry: comments below an entry hang on it, those inside stay where they are.
    found = [_bare(entries[at]) for _ in parts[:-1]]
    for offset, entry in enumerate(found):
        entries.insert(at + offset, entry)
    found.append(entries[at + len(parts) - 1])
    where = addresses(group)
    for entry, part in zip(found, parts, strict=True):
        set_hosts(entry, "hosts", part.hosts)
        if where:
            set_hosts(entry, "address", [where[host] for host in part.hosts])
        _keep_exceptions(entry, set(part.hosts))
        _name_racks(entry, cluster, at, part, len(parts) > 1)
    return found


def cut_exceptions(entry: Any, hosts: set[str]) -> None:
    """Take hosts out of the exceptions of a group; an exception of nobody goes."""
    _over_exceptions(entry, lambda names: [name for name in names if name not in hosts])


def _keep_exceptions(entry: Any, hosts: set[str]) -> None:
    _over_exceptions(entry, lambda names: [name for name in names if name in hosts])


def _over_exceptions(entry: Any, rest: Callable[[Sequence[str]], Sequence[str]]) -> None:
    own = entry.get("exceptions")
    for key in list(own or ()):
        names = expand(str(key))
        left = rest(names)
        if tuple(left) == names:
            continue
        if left:
            rename_key(own, key, fold_in_order(list(left)))
        else:
            del own[key]
    if own is not None and not own:
        del entry["exceptions"]


def rename_key(mapping: CommentedMap, old: Any, new: str) -> None:
    """Another key for the same value in the same place."""
    place = list(mapping).index(old)
    comment = mapping.ca.items.pop(old, None)
    value = mapping.pop(old)
    mapping.insert(place, new, value)
    if comment is not None:
        mapping.ca.items[new] = comment


def _racks(cluster: Cluster, at: int) -> tuple[int | None, tuple[str, ...]]:
    """The size of this group's racks or units and the name of each; (None, ()) where no order counts."""
    group, given = cluster.nodes[at], cluster.topology
    if given is not None and given.kind != "flat" and not given.units:
        size = unit_size(given, group, cluster.node_types[group.type])
        names = units(given, cluster.nodes, cluster.node_types)
        owner = {host: unit.name for unit in names for host in unit.hosts}
        if size is not None:
            return size, tuple(owner[members[0]] for members in cut(group.hosts, size))
    if group.racks is None:
        return None, ()
    count = len(cut(group.hosts, group.racks.size))
    if group.racks.names:
        return group.racks.size, expand(group.racks.names)
    named = units(Topology(kind="tree"), cluster.nodes, cluster.node_types)
    owner = {host: unit.name for unit in named for host in unit.hosts}
    return group.racks.size, tuple(owner[group.hosts[number * group.racks.size]] for number in range(count))


def _runs(
    hosts: Sequence[str], keep: Callable[[str], bool], chosen: Callable[[str], bool]
) -> Iterator[tuple[tuple[str, ...], bool]]:
    run: list[str] = []
    mine = False
    for host in filter(keep, hosts):
        if run and chosen(host) != mine:
            yield tuple(run), mine
            run = []
        mine = chosen(host)
        run.append(host)
    if run:
        yield tuple(run), mine


def _name_racks(entry: Any, cluster: Cluster, at: int, part: Piece, split: bool) -> None:
    """Names, where there are some already or where counting off no longer tells the racks."""
    group = cluster.nodes[at]
    named = group.racks is not None and group.racks.names is not None
    if part.racks is None or not (named or split):
        return
    size = _racks(cluster, at)[0]
    names = fold_in_order(list(part.racks))
    racks = entry.get("racks")
    if isinstance(racks, dict) and racks.get("size") == size:
        if named and tuple(expand(str(racks["names"]))) == part.racks:
            return
        racks["names"] = DoubleQuotedScalarString(names)
        return
    fresh = CommentedMap({"size": size, "names": DoubleQuotedScalarString(names)})
    fresh.fa.set_flow_style()
    entry["racks"] = fresh


def _bare(entry: Any) -> Any:
    """A copy without the comments, which stay with the first."""
    again = copy.deepcopy(entry)
    pending = [again]
    while pending:
        one = pending.pop()
        if hasattr(one, "ca"):
            one.ca.items.clear()
            one.ca.comment = None
            one.ca.end = []
            pending += one.values() if isinstance(one, dict) else one
    return again
