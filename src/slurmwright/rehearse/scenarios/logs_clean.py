"""Verdict `logs-clean`: no daemon logs an error that is not on a list of known ones, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources

import yaml

from slurmwright.core.release import Release
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.scenarios.grouping import by_text
from slurmwright.rehearse.slurm_text import error_lines
from slurmwright.rehearse.values import Verdict

NAME = "logs-clean"
_MOST = 20
#: How daemons name a job or a step of it.
_JOB = re.compile(r"(?<=JobId=)\d+|(?<=\[job )\d+|(?<=\[)\d+(?=\.)")


@dataclass(frozen=True)
class KnownLine:
    """A line that a correct cluster logs in a rehearsal: from which series until which, and why. `daemon` is
    the one that may say so, "" any of them: what is harmless in one log can be a fault in another. `passing`:
    it is a fault where any node does not answer in the end."""

    daemon: str
    pattern: re.Pattern[str]
    since: str
    until: str
    reason: str
    passing: bool = False


@cache
def known_lines() -> tuple[KnownLine, ...]:
    """The rows of data/known_log_lines.yaml."""
    text = (resources.files("slurmwright.rehearse") / "data" / "known_log_lines.yaml").read_text("utf-8")
    return tuple(
        KnownLine(
            row.get("daemon", ""),
            re.compile(row["line"]),
            row.get("since", "22.05"),
            row.get("until", "99.99"),
            row["reason"],
            row.get("passing", False),
        )
        for row in yaml.safe_load(text)
    )


def unknown_errors(text: str, release: Release, daemon: str, healthy: bool = False) -> tuple[str, ...]:
    """The error lines of this daemon's log that are on no row for this release; `healthy`: every node
    answers."""
    rows = [r for r in known_lines() if r.since <= release.series <= r.until and r.daemon in ("", daemon)]
    rows = [row for row in rows if healthy or not row.passing]
    return tuple(line for line in error_lines(text) if not any(r.pattern.search(line) for r in rows))


def _once(lines: Iterable[str]) -> Iterator[str]:
    """Of lines that differ in the number of a job only, the first."""
    first: dict[str, str] = {}
    for line in lines:
        first.setdefault(_JOB.sub("", line), line)
    return iter(first.values())


def judge(machine: Machine, release: Release) -> Verdict:
    """Read what every daemon said; equal lines of many nodes become one line of evidence."""
    logs = [("slurmctld", name, machine.controller_log(name)) for name in machine.cast.controllers]
    logs += [("slurmd", host.name, machine.node_log(host)) for host in machine.cast.compute]
    if machine.cast.database:
        logs.append(("slurmdbd", machine.cast.database, machine.database_log()))
    nodes = jobs.nodes(machine)
    healthy = bool(nodes) and all(node.answered for node in nodes)
    rows = [
        (host, f"{daemon}: {line}")
        for daemon, host, text in logs
        for line in _once(unknown_errors(text, release, daemon, healthy))
    ]
    lines = by_text(rows, {name for host in machine.cast.hosts for name in (host.name, host.node)})
    if not lines:
        size = sum(len(text.splitlines()) for _, _, text in logs)
        if not size:
            return Verdict(NAME, False, ("no daemon has logged anything",))
        return Verdict(NAME, True, (f"{len(logs)} logs with {size} lines hold no unexpected error",))
    more = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
    return Verdict(NAME, False, (*lines[:_MOST], *more))
