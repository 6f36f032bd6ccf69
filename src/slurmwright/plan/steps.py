"""What must happen to the order in which it may: nothing is put in place before every host has it whole, and
nobody is resumed before the check.

What surprises: in 22.05 and 23.02 slurmctld is stopped before files change where the set of nodes does, for
there a reconfigure ends it; and a configless slurmd starts after slurmctld, where its files are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slurmwright.conf.meaning.said import folded
from slurmwright.plan.needs import Needs
from slurmwright.plan.sides import Side
from slurmwright.plan.values import Step

_STARTS = ("restart", "stop")


def steps_of(old: Side, new: Side, needs: Needs) -> tuple[Step, ...]:
    """All steps; none where nothing is to be pushed and no daemon has to do anything."""
    return (
        *_drains(needs),
        *_staging(needs),
        *_stops(old, needs),
        *_activation(needs),
        *_starts(new, needs),
        *_checks(new, needs),
        *_resumes(new, needs),
    )


def contacted(new: Side, needs: Needs, steps: tuple[Step, ...]) -> tuple[str, ...]:
    """Every host that a step reaches, the controllers among them where there is any step."""
    if not steps:
        return ()
    found = {host for hosts, _ in needs.pushed for host in hosts}
    found |= {*new.controllers, *needs.restart_slurmd, *needs.added, *needs.removed, *needs.confirming}
    found |= {*needs.reload_units, *needs.reboot, *needs.clients}
    found |= {host for _, hosts in (*needs.units, *needs.around) for host in hosts}
    found |= set(new.databases) if needs.slurmdbd != "none" else set()
    return tuple(sorted(found))


def _drains(needs: Needs) -> Iterator[Step]:
    if needs.drained:
        yield Step("drain", folded(needs.drained), "drain these nodes and wait until no job runs there")
    for name in needs.partitions:
        yield Step("drain", "", f"set partition {name} to DRAIN and wait until none of its jobs runs")
    for text, hosts in needs.around:
        yield Step("on-host", folded(hosts), text)


def _staging(needs: Needs) -> Iterator[Step]:
    for hosts, paths in needs.pushed:
        yield Step("stage", folded(hosts), "put the new files beside the old ones", files=paths)
    if needs.pushed:
        every = {host for hosts, _ in needs.pushed for host in hosts}
        yield Step("confirm", folded(every), "each host confirms the sha256 of what it was given")


def _stops(old: Side, needs: Needs) -> Iterator[Step]:
    if needs.stop_everything:
        yield _daemon("stop", "slurmd", old.nodes.values(), "no job may run")
    if needs.slurmctld == "stop":
        yield _daemon(
            "stop", "slurmctld", reversed(old.controllers), "backup first, so that it cannot take over"
        )
    if needs.slurmdbd == "stop" and old.databases:
        yield _daemon("stop", "slurmdbd", old.databases, "")


def _activation(needs: Needs) -> Iterator[Step]:
    for hosts, paths in needs.pushed:
        yield Step("activate", folded(hosts), "put the new files in place of the old ones", files=paths)
    if needs.reload_units:
        yield Step("reload-units", folded(needs.reload_units), "systemctl daemon-reload")


def _starts(new: Side, needs: Needs) -> Iterator[Step]:
    if needs.slurmdbd in _STARTS and new.databases:
        verb = "start" if needs.slurmdbd == "stop" else "restart"
        yield _daemon(verb, "slurmdbd", new.databases, "")
    if needs.slurmctld == "stop":
        yield _daemon("start", "slurmctld", new.controllers, "primary first")
    elif needs.slurmctld == "restart":
        yield _daemon("restart", "slurmctld", reversed(new.controllers), "backup, then primary")
    restarted = set(needs.restart_slurmd)
    if _reconfigures(new, needs):
        who = "slurmctld, which hands it to every slurmd" if needs.reload_slurmd else "slurmctld"
        yield Step(
            "reconfigure", new.controllers[0] if new.controllers else "", f"scontrol reconfigure: {who}"
        )
    for host in needs.reboot:
        yield Step("reboot", host, "reboot into the other cgroup hierarchy")
    if restarted:
        verb = "start" if needs.stop_everything else "restart"
        yield _daemon(verb, "slurmd", restarted, "in waves")
    if needs.added:
        yield _daemon("start", "slurmd", needs.added, "nodes that are new")
    if needs.removed:
        yield _daemon(
            "stop", "slurmd", needs.removed, "nodes that are gone; slurmctld does not end what runs there"
        )
    for unit, hosts in needs.units:
        yield _daemon("restart", unit, hosts, "")
    if needs.clients:
        yield Step("clients", folded(needs.clients), "sackd and running commands start anew")


def _reconfigures(new: Side, needs: Needs) -> bool:
    """Is anybody left that has not read its files at a start?"""
    left = {*new.nodes.values()} - set(needs.restart_slurmd) - set(needs.added)
    return needs.slurmctld == "reconfigure" or (needs.reload_slurmd and bool(left))


def _checks(new: Side, needs: Needs) -> Iterator[Step]:
    if not (needs.pushed or needs.added or needs.removed or needs.slurmctld != "none"):
        return
    text = "slurmctld answers, every node has registered, and no daemon complains of another slurm.conf"
    if needs.confirming:
        text += f"; {folded(needs.confirming)} confirm the sha256 of what they fetched"
    yield Step("check", folded(new.controllers), text)


def _resumes(new: Side, needs: Needs) -> Iterator[Step]:
    back = [name for name in needs.drained if name in new.nodes]
    if back:
        yield Step("resume", folded(back), "resume what was drained here, and nothing else")


def _daemon(action: str, daemon: str, hosts: Iterable[str], text: str) -> Step:
    names = tuple(hosts)
    # Controllers have an order; a folded range would lose it.
    shown = ",".join(names) if daemon == "slurmctld" else folded(names)
    said = f"{action} {daemon}"
    return Step(action, shown, f"{said}: {text}" if text else said, daemon)
