"""What an edit of the nodes finds in a cluster.yaml: groups, host ranges however they are written, names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml.scalarstring import ScalarString

from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.hosts import expand, fold_in_order
from slurmwright.model.cluster import Cluster, NodeGroup
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml


@dataclass(frozen=True)
class Edited:
    """A new cluster.yaml, not yet written: its text, the cluster of it, hosts that are new and that are gone,
    and what a person should know."""

    text: str
    cluster: Cluster
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Slot:
    """A host range of the file: who is in it, how to change it, and what has it."""

    hosts: tuple[str, ...]
    put: Callable[[Sequence[str]], None]
    what: str


def cluster_of(text: str, file: str) -> Cluster:
    """The cluster that an edited text describes; raises InputError for what the loader refuses."""
    return cluster_from(parse_yaml(text, file))


def group_of(cluster: Cluster, host: str) -> int:
    """The number of the group that a host is in; raises InputError with the nearest name."""
    known = [name for group in cluster.nodes for name in group.hosts]
    for at, group in enumerate(cluster.nodes):
        if host in group.hosts:
            return at
    raise InputError.of(f"'{host}' is no node of this cluster; {did_you_mean(host, known)}")


def by_group(cluster: Cluster, hosts: Sequence[str]) -> dict[int, tuple[str, ...]]:
    """Hosts by the number of their group; raises InputError for one that is no node or named twice."""
    found: dict[int, list[str]] = {}
    for host in hosts:
        mine = found.setdefault(group_of(cluster, host), [])
        if host in mine:
            raise InputError.of(f"'{host}' is named twice; name each host once")
        mine.append(host)
    return {at: tuple(names) for at, names in found.items()}


def written(items: Sequence[str], like: Any = None) -> Any:
    """A range in the way that the file has it: quoted where it was, a list where it was."""
    if isinstance(like, list):
        return _listed(items, like)
    text = fold_in_order(list(items))
    return type(like)(text) if isinstance(like, ScalarString) else text


def _listed(items: Sequence[str], like: list[Any]) -> list[Any]:
    """The list with the ranges that still hold as they stand, and the rest folded at its end."""
    left, kept = list(items), []
    for at, entry in enumerate(like):
        named = list(expand(str(entry)))
        rest = [name for name in named if name in set(left)]
        if left[: len(rest)] == rest and rest:
            kept.append((at, entry if rest == named else written(rest, entry)))
            left = left[len(rest) :]
    places = {at for at, _ in kept}
    for at, entry in kept:
        like[at] = entry
    for at in reversed([at for at in range(len(like)) if at not in places]):
        del like[at]
    if left:
        like.append(written(left, like[-1] if like else None))
    return like


def set_hosts(entry: Any, key: str, items: Sequence[str]) -> None:
    """Write a range back under its key, only where it says something else."""
    if tuple(items) != names_of(entry.get(key)):
        entry[key] = written(items, entry.get(key))


def names_of(value: Any) -> tuple[str, ...]:
    """The hosts of a range or of a list of ranges, as ruamel has it."""
    parts = value if isinstance(value, list) else [value]
    return tuple(name for part in parts if part is not None for name in expand(str(part)))


def slots(data: Any) -> Iterator[Slot]:
    """Every range of hosts outside `nodes`: partitions that name hosts, and named units of the topology."""
    for part in data.get("partitions") or ():
        nodes = part.get("nodes")
        if isinstance(nodes, dict) and nodes.get("hosts") is not None:
            yield _slot(nodes, "hosts", f"partition {part.get('name')}")
    topology = data.get("topology")
    for unit in topology.get("units") or () if isinstance(topology, dict) else ():
        if unit.get("nodes") is not None:
            yield _slot(unit, "nodes", f"topology unit {unit.get('name')}")


def _slot(entry: Any, key: str, what: str) -> Slot:
    return Slot(names_of(entry[key]), lambda items: set_hosts(entry, key, items), what)


def addresses(group: NodeGroup) -> dict[str, str]:
    """host → address; empty where the group has none."""
    return dict(zip(group.hosts, group.address, strict=True)) if group.address else {}
