"""Finds hosts and addresses that are used twice, and ranges that do not fit together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold
from slurmwright.model import names
from slurmwright.model.cluster import Control, NodeGroup, Racks, Server
from slurmwright.model.faults import Faults
from slurmwright.model.yaml_source import Where

Groups = Sequence[tuple[int, NodeGroup]]


def check_groups(faults: Faults, groups: Groups) -> None:
    """Every host stands once, every address once, and addresses and racks fit the hosts."""
    owners: dict[str, int] = {}
    holders: dict[str, str] = {}
    for at, group in groups:
        where: Where = ("nodes", at)
        _check_names(faults, (*where, "hosts"), group)
        _check_overlap(faults, (*where, "hosts"), at, group, owners)
        if group.address:
            _check_addresses(faults, (*where, "address"), group, holders)
        if group.racks and group.racks.names is not None:
            _check_racks(faults, (*where, "racks", "names"), group.racks, group)
        for number, feature in enumerate(group.features):
            if wrong := names.bad_word("feature", feature):
                faults.add((*where, "features", number), wrong)


def check_control(faults: Faults, control: Control, groups: Groups) -> None:
    """Each server of a role stands once and has one address; a host may be a server and a node (labs)."""
    known = {h: a for _, g in groups for h, a in zip(g.hosts, g.address, strict=False)}
    for role in ("controllers", "login"):
        seen: set[str] = set()
        for at, server in enumerate(getattr(control, role)):
            if server.host in seen:
                faults.add(("control", role, at), f"'{server.host}' stands twice in {role}; keep one")
            seen.add(server.host)
    for where, server in _servers(control):
        if wrong := names.bad_host(server.host):
            faults.add((*where, "host"), wrong)
        if server.address is None:
            continue
        if wrong := names.bad_address(server.address):
            faults.add((*where, "address"), wrong)
        elif known.setdefault(server.host, server.address) != server.address:
            faults.add(
                (*where, "address"),
                f"address of {server.host} is {server.address} here but {known[server.host]} elsewhere",
            )


def _servers(control: Control) -> Iterator[tuple[Where, Server]]:
    for role in ("controllers", "login"):
        for at, server in enumerate(getattr(control, role)):
            yield ("control", role, at), server
    if control.database:
        yield ("control", "database"), control.database


def _check_names(faults: Faults, where: Where, group: NodeGroup) -> None:
    for host in group.hosts:
        if wrong := names.reserved_host(host):
            faults.add(where, wrong)


def _check_overlap(faults: Faults, where: Where, at: int, group: NodeGroup, owners: dict[str, int]) -> None:
    twice: dict[int, list[str]] = {}
    for host in group.hosts:
        first = owners.setdefault(host, at)
        if first != at:
            twice.setdefault(first, []).append(host)
    for first, hosts in twice.items():
        line = faults.line(("nodes", first, "hosts"))
        faults.add(where, f"{fold(hosts)} already stands in the group of line {line}; a host is in one group")
    again = [host for host, times in Counter(group.hosts).items() if times > 1]
    if again:
        faults.add(where, f"{fold(again)} stands twice in this range; name each host once")


def _check_addresses(faults: Faults, where: Where, group: NodeGroup, holders: dict[str, str]) -> None:
    if len(group.address) != len(group.hosts):
        faults.add(
            where,
            f"address names {len(group.address)} addresses but hosts names {len(group.hosts)} hosts; "
            "expected one address per host",
        )
        return
    for host, address in zip(group.hosts, group.address, strict=True):
        if wrong := names.bad_address(address):
            faults.add(where, wrong)
            return
        first = holders.setdefault(address, host)
        if first != host:
            faults.add(
                where, f"address {address} of {host} is already that of {first}; each host needs its own"
            )
            return


def _check_racks(faults: Faults, where: Where, racks: Racks, group: NodeGroup) -> None:
    try:
        named = expand(racks.names or "")
    except InputError as error:
        faults.add(where, error.problems[0].message)
        return
    needed = -(-len(group.hosts) // racks.size)
    if len(named) != needed:
        faults.add(
            where,
            f"{len(named)} racks are named, {len(group.hosts)} hosts in racks of {racks.size} fill {needed}",
        )
    elif len(set(named)) < len(named):
        faults.add(where, "a rack stands twice in this range; name each rack once")
