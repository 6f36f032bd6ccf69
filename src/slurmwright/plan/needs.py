"""Changes and both sides to what must happen to whom: daemons by host, drains, hosts that get files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.core.hosts import expand
from slurmwright.plan.files import differing
from slurmwright.plan.sides import Side
from slurmwright.plan.values import Change, worst


@dataclass(frozen=True)
class Needs:
    """What the changes ask for together. Hosts and nodes are sorted; `pushed` are (hosts, paths);
    `confirming` are hosts of changed nodes that fetch Slurm's files from slurmctld."""

    slurmctld: str
    slurmdbd: str
    reload_slurmd: bool
    restart_slurmd: tuple[str, ...]
    stop_everything: bool
    added: tuple[str, ...]
    removed: tuple[str, ...]
    drained: tuple[str, ...]
    partitions: tuple[str, ...]
    pushed: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]
    reload_units: tuple[str, ...]
    units: tuple[tuple[str, tuple[str, ...]], ...]
    around: tuple[tuple[str, tuple[str, ...]], ...]
    reboot: tuple[str, ...]
    clients: tuple[str, ...]
    confirming: tuple[str, ...]


def needs_of(old: Side, new: Side, changes: tuple[Change, ...]) -> Needs:
    """Everything but the order."""
    gone = tuple(name for name in old.nodes if name not in new.nodes)
    come = tuple(name for name in new.nodes if name not in old.nodes)
    leaving = {old.nodes[name] for name in gone}
    stop = any(change.effects.slurmd == "stop" for change in changes)
    about = {node for change in changes for node in change.nodes}
    return Needs(
        slurmctld=worst(change.effects.slurmctld for change in changes),
        slurmdbd=worst(change.effects.slurmdbd for change in changes),
        reload_slurmd=any(change.effects.slurmd == "reconfigure" for change in changes),
        restart_slurmd=tuple(sorted(set(_restarted(new, changes)) - {new.nodes[name] for name in come})),
        stop_everything=stop,
        added=tuple(sorted(new.nodes[name] for name in come)),
        removed=tuple(sorted(leaving)),
        drained=tuple(sorted(set(_drained(old, changes)))),
        partitions=tuple(
            sorted({change.partition for change in changes if change.effects.drain == "partition"})
        ),
        pushed=_pushed(old, new, leaving - set(new.nodes.values())),
        reload_units=_hosts(c for c in changes if c.effects.reload_units),
        units=tuple(
            (unit, _hosts(c for c in changes if unit in c.effects.units))
            for unit in sorted({unit for change in changes for unit in change.effects.units})
        ),
        around=tuple(
            (text, _nodes_hosts(new, change)) for change in changes for text in change.effects.around
        ),
        reboot=tuple(sorted({h for c in changes if c.effects.reboot for h in _nodes_hosts(new, c)})),
        clients=_clients(new) if any(change.effects.clients for change in changes) else (),
        confirming=tuple(sorted({new.nodes[name] for name in about if name in new.nodes} - new.holders))
        if new.configless
        else (),
    )


def _restarted(new: Side, changes: tuple[Change, ...]) -> Iterator[str]:
    """Hosts whose slurmd starts anew."""
    everybody = tuple(new.nodes.values())
    for change in changes:
        if change.effects.slurmd not in ("restart", "stop"):
            continue
        if change.hosts:
            yield from (host for host in change.hosts if host in frozenset(everybody))
        elif change.effects.everywhere or not change.nodes:
            yield from everybody
        else:
            yield from (new.nodes[name] for name in change.nodes if name in new.nodes)


def _drained(old: Side, changes: tuple[Change, ...]) -> Iterator[str]:
    """Nodes on which no job may run; one that is new has none."""
    for change in changes:
        if change.effects.drain == "all":
            yield from old.nodes
        elif change.effects.drain == "nodes":
            if change.hosts:
                wanted = frozenset(change.hosts)
                yield from (name for name, host in old.nodes.items() if host in wanted)
            else:
                yield from (name for name in change.nodes or old.nodes if name in old.nodes)


def _pushed(old: Side, new: Side, leaving: set[str]) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]:
    """(hosts, paths), hosts that get the same paths together; a host that leaves keeps its files."""
    paths: dict[str, list[str]] = {}
    for (path, _), hosts in differing(old.bundle, new.bundle).items():
        for host in hosts:
            if host not in leaving:
                paths.setdefault(host, []).append(path)
    groups: dict[tuple[str, ...], list[str]] = {}
    for host, found in paths.items():
        groups.setdefault(tuple(sorted(set(found))), []).append(host)
    return tuple(sorted((tuple(sorted(hosts)), found) for found, hosts in groups.items()))


def _hosts(changes: Iterator[Change]) -> tuple[str, ...]:
    return tuple(sorted({host for change in changes for host in change.hosts}))


def _nodes_hosts(new: Side, change: Change) -> tuple[str, ...]:
    names = change.nodes or tuple(new.nodes)
    return change.hosts or tuple(sorted(new.nodes[name] for name in names if name in new.nodes))


def _clients(new: Side) -> tuple[str, ...]:
    """Hosts with a copy of slurm.conf or a sackd that are neither controllers nor nodes."""
    files = {
        host
        for file in new.bundle.files
        if file.path.endswith(("/slurm.conf", "/sackd", "/sackd.service.d/slurmwright.conf"))
        for host in expand(file.hosts)
    }
    return tuple(sorted(files - set(new.controllers) - set(new.nodes.values())))
