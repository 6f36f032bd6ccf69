"""Hosts to findings: each cause once with all its hosts, and what no cause explains as the log has it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from slurmwright.catalogue.findings import kinds_by_name
from slurmwright.catalogue.log_signs import log_signs
from slurmwright.core.errors import InputError
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import fold
from slurmwright.doctor.host import Host
from slurmwright.doctor.looks import (
    accounting,
    cgroups,
    confinement,
    containers,
    cpus,
    daemons,
    exporters,
    gpus,
    jobs,
    network,
)
from slurmwright.doctor.scan import Hit
from slurmwright.doctor.told import Look, Told

LOOKS: tuple[Look, ...] = (
    *gpus.LOOKS,
    *cpus.LOOKS,
    *cgroups.LOOKS,
    *confinement.LOOKS,
    *daemons.LOOKS,
    *accounting.LOOKS,
    *exporters.LOOKS,
    *containers.LOOKS,
    *network.LOOKS,
    *jobs.LOOKS,
)
_ORDER = list(Severity)
_MAX_LINES = 12


def judge(hosts: Sequence[Host], more: Iterable[tuple[str, Told]] = ()) -> tuple[Finding, ...]:
    """Findings, worst first; `more` are causes that only many hosts together show, with their hosts."""
    together: dict[str, list[Told]] = {}
    for name, one in more:
        together.setdefault(name, []).append(one)
    own = [(host.name, one) for host in _shared(hosts) for one in examine(host, together.get(host.name, ()))]
    return merged([*own, *((name, one) for name, found in together.items() for one in found)])


def _shared(hosts: Sequence[Host]) -> tuple[Host, ...]:
    """What the log of slurmctld tells of a node belongs to that node, beside what it shows itself."""
    names = {host.name for host in hosts if host.name}
    moved: dict[str, list[Hit]] = {}
    for host in hosts:
        for hit in host.hits:
            if hit.part("node") in names - {host.name}:
                moved.setdefault(hit.part("node"), []).append(hit)
    if not moved:
        return tuple(hosts)
    gone = {id(hit) for hits in moved.values() for hit in hits}
    return tuple(
        replace(
            host,
            hits=(*(hit for hit in host.hits if id(hit) not in gone), *moved.get(host.name, ())),
        )
        for host in hosts
    )


def examine(host: Host, more: Sequence[Told] = ()) -> tuple[Told, ...]:
    """Every cause on one host, then what neither they nor `more` of it explain."""
    found = [one for look in LOOKS for one in look(host)]
    return (*found, *_unexplained(host, [*found, *more]), *_unread(host))


def _unexplained(host: Host, found: Sequence[Told]) -> Iterator[Told]:
    known = {sign for one in found for sign in one.explains}
    startup = {sign.name for sign in log_signs() if sign.startup}
    last: dict[str, Hit] = {hit.file: hit for hit in host.all("daemon-fatal")}
    if "daemon-fatal" not in known and not known & startup:
        for file, hit in last.items():
            daemon = file.rpartition("/")[2].split(".")[0]
            yield Told("DR097", f"{daemon} ended: {hit.part('what')[:200]}", (hit,))
    reasons = [hit for hit in host.hits if hit.file == "Reason"]
    for number, (nodes, reason) in enumerate(host.reasons, 1):
        signs = {hit.sign for hit in reasons if hit.line == number}
        if not signs & known and not signs & {one for told in found for one in told.also}:
            yield Told("DR098", f"{nodes} is out of service: {reason}", (), (reason,), nodes=_names(nodes))


def _names(text: str) -> tuple[str, ...]:
    return (text,) if text.isprintable() and len(text) < 200 else ()


def _unread(host: Host) -> Iterator[Told]:
    if host.notes:
        yield Told("DR099", f"not all of it could be read: {host.notes[0]}", (), host.notes[:8])


def merged(told: Iterable[tuple[str, Told]]) -> tuple[Finding, ...]:
    """One finding for each cause; equal ones of several hosts are one."""
    groups: dict[tuple[str, str], list[tuple[str, Told]]] = {}
    for host, one in told:
        groups.setdefault((one.kind, one.message), []).append((host, one))
    found = [_finding([host for host, _ in group], [one for _, one in group]) for group in groups.values()]
    return tuple(sorted(found, key=lambda one: (_ORDER.index(one.severity), one.rule, one.host, one.message)))


def _finding(hosts: Sequence[str], told: Sequence[Told]) -> Finding:
    one = told[0]
    kind = kinds_by_name()[one.kind.lower()]
    names = sorted({name for each in told for name in each.nodes} or {name for name in hosts if name})
    several = len(hosts) > 1
    lines = [
        f"{host}: {line}" if several else line
        for host, each in zip(hosts, told, strict=True)
        for line in each.evidence
    ]
    return Finding(
        kind.id,
        kind.name,
        one.severity or kind.severity,
        one.message,
        one.place.file,
        one.place.line,
        _folded(names),
        tuple(dict.fromkeys(lines))[:_MAX_LINES],
        one.fix or kind.fix,
    )


def _folded(names: Sequence[str]) -> str:
    try:
        return fold(names) if names else ""
    except (ValueError, InputError):
        return ",".join(names)
