"""A plan's steps on the daemons of a rehearsal, carried out by what carries them out on hosts.

What surprises: a drain here does not wait for its jobs, which would sleep for ever: they are ended, and count
as ended by the drain. Units of systemd, other services and reboots do not exist here; those are skipped.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace

from slurmwright.apply.execute import carry_out
from slurmwright.apply.journal import new_journal
from slurmwright.apply.tools import Limits, Work
from slurmwright.core.bundle import Bundle
from slurmwright.core.hosts import expand
from slurmwright.plan import Plan, Step
from slurmwright.plan.sides import side_of
from slurmwright.rehearse.hosts import MachineDaemons, MachineHosts
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.slurm_text import pairs

_NOT_HERE = ("reload-units", "on-host", "reboot", "clients")
LIMITS = Limits(drain_s=90, answer_s=90, poll_s=0.2)


@dataclass(frozen=True)
class Carried:
    """What carrying out the steps showed: `faults` tell who refused what, `skipped` are steps that have no
    counterpart here, `ended` the jobs that a drain ended."""

    faults: tuple[str, ...]
    skipped: tuple[str, ...]
    ended: frozenset[int]


def carry(machine: Machine, plan: Plan, bundle: Bundle) -> Carried:
    """Do every step; the first that fails ends it. `bundle` is the new side as it can run here."""
    ended: set[int] = set()

    def end(jobs: tuple[str, ...]) -> None:
        ended.update(map(int, jobs))
        machine.ctl("scancel", *jobs)

    here = plan_here(machine, plan, bundle)
    work = Work(
        here,
        new_journal(here),
        MachineHosts(machine),
        MachineDaemons(machine, bundle),
        save=lambda _: None,
        waiting=end,
        limits=LIMITS,
    )
    result = carry_out(work)
    skipped = tuple(
        f"{step.action} {step.hosts}: no counterpart in engine processes"
        for step in plan.steps
        if not _is_here(step)
    )
    return Carried(result.why, skipped, frozenset(ended))


def plan_here(machine: Machine, plan: Plan, bundle: Bundle) -> Plan:
    """The plan with the steps that have a counterpart here, on the hosts that are here, with Slurm's own
    folder alone: nothing here reads other files, and slurmdbd.conf holds a drawn password."""
    return replace(plan, new=bundle, steps=tuple(_steps(machine, plan)))


def _steps(machine: Machine, plan: Plan) -> Iterator[Step]:
    folder = posixpath.dirname(machine.cast.conf_path)
    known = {host.name for host in machine.cast.hosts}
    for step in plan.steps:
        hosts = step.hosts if step.action in ("drain", "resume") else _among(step.hosts, known)
        files = tuple(
            path
            for path in step.files
            if posixpath.dirname(path) == folder and posixpath.basename(path) != "slurmdbd.conf"
        )
        gone = (step.hosts and not hosts) or (step.files and not files)
        if _is_here(step) and not gone:
            yield replace(step, hosts=hosts, files=files)


def _among(folded: str, known: set[str]) -> str:
    """The hosts that are here, in their order."""
    names = expand(folded) if folded else ()
    return folded if known.issuperset(names) else ",".join(name for name in names if name in known)


def _is_here(step: Step) -> bool:
    return step.action not in _NOT_HERE and step.daemon in ("", "slurmctld", "slurmd")


def nodes_of(bundle: Bundle) -> dict[str, str]:
    """The nodes that a bundle names, with the hosts of their slurmd."""
    return dict(side_of(bundle).nodes)


def running(machine: Machine) -> dict[int, dict[str, str]]:
    """Every running job as scontrol shows it, by its number."""
    rows = [pairs(line) for line in machine.ctl("scontrol", "show", "job", "-o").out.splitlines()]
    return {int(row["JobId"]): row for row in rows if row.get("JobState") == "RUNNING"}
