"""What admins do with single nodes: who runs there, drain, wait, resume, and verify before jobs come.

What surprises: a drained node runs no job, so it could not be verified. It is resumed into a reservation that
only the verifying user may use, and drained again with the finding as its reason where it fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

from slurmwright.apply.hosts import UNREACHED, Hosts
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release
from slurmwright.core.run import Result
from slurmwright.render.hostlist import fold_for
from slurmwright.verify.values import IN_SERVICE, Report

#: slurm.conf(5) names no limit; longer reasons make sinfo unreadable.
_LONGEST = 200
_EVERY_S = 5.0
#: Why a new node takes no job yet.
NEW = "new: not verified yet"
#: States in which slurmctld has nodes that have not registered, or do not answer.
_AWAY = ("unk", "down", "future", "no_respond", "inval", "planned_down")
Verify = Callable[[str], Report]


@dataclass(frozen=True)
class Job:
    """A job that is on a node, or has not quite left it."""

    number: str
    user: str
    state: str
    nodes: str

    def __str__(self) -> str:
        return f"{self.number} of {self.user} ({self.state.lower()}) on {self.nodes}"


class NodeControl:
    """Slurm's commands, as root on the first controller that answers; SlurmwrightError where one fails."""

    def __init__(self, hosts: Hosts, controllers: Sequence[str], release: Release) -> None:
        self._hosts, self._controllers, self._release = hosts, list(controllers), release

    def run(self, *argv: str) -> str:
        last: Result | None = None
        for name in list(self._controllers):
            last = self._hosts.run(name, argv, limit_s=60)
            if last.code != UNREACHED:
                break
            self._controllers.remove(name)
            self._controllers.append(name)
        assert last is not None  # noqa: S101 - a cluster has one controller at least
        if last.ok:
            return last.out
        raise SlurmwrightError(f"{' '.join(argv[:3])}: {last.last_line}")

    def range(self, nodes: Collection[str]) -> str:
        """Names as this release reads them."""
        return fold_for(self._release, list(nodes))

    def states(self) -> dict[str, tuple[str, str]]:
        """node → (state, reason) of every node that slurmctld knows."""
        rows = [
            line.split("|", 2) for line in self.run("sinfo", "-h", "-N", "-a", "-o", "%N|%T|%E").splitlines()
        ]
        return {row[0]: (row[1].lower(), row[2].strip()) for row in rows if len(row) == 3}

    def jobs(self, nodes: Collection[str]) -> tuple[Job, ...]:
        """Jobs on these nodes, those that are just ending too; none on nodes that slurmctld does not know."""
        there = self.states()
        known = [name for name in nodes if name in there]
        if not known:
            return ()
        out = self.run("squeue", "-h", "-a", "-w", self.range(known), "-o", "%A|%u|%T|%N")
        rows = (line.split("|", 3) for line in out.splitlines())
        return tuple(Job(*row) for row in rows if len(row) == 4)

    def drain(self, nodes: Collection[str], reason: str) -> None:
        """No new job from now on; those that run go on."""
        plain = plain_reason(reason)
        self.run("scontrol", "update", f"NodeName={self.range(nodes)}", "State=DRAIN", f"Reason={plain}")

    def resume(self, nodes: Collection[str]) -> None:
        """Jobs may come again."""
        self.run("scontrol", "update", f"NodeName={self.range(nodes)}", "State=RESUME")


class Holding:
    """Hosts of which new nodes are drained before their slurmd starts: jobs wait until they are verified."""

    def __init__(self, hosts: Hosts, control: NodeControl, nodes: Collection[str]) -> None:
        self._hosts, self._control, self._waiting = hosts, control, set(nodes)
        self._one = Lock()

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        if argv and argv[-1] == "slurmd" and any("systemctl start" in word for word in argv):
            try:
                self._hold(host)
            except SlurmwrightError as error:
                return Result(tuple(argv), 1, "", f"is not drained, so slurmd was not started: {error}")
        return self._hosts.run(host, argv, stdin=stdin, limit_s=limit_s)

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        return self._hosts.put(host, path, text, owner=owner, group=group, mode=mode)

    def _hold(self, host: str) -> None:
        """All of them with the first that starts."""
        with self._one:
            if host in self._waiting:
                self._control.drain(sorted(self._waiting), NEW)
                self._waiting.clear()


def plain_reason(text: str) -> str:
    """A reason that fits a line of sinfo; raises InputError for none."""
    plain = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    if not plain:
        raise InputError.of("a reason is needed: it tells the next admin why the node is out of service")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 3] + "..."


def wait_until_empty(
    control: NodeControl,
    nodes: Collection[str],
    limit_s: float,
    told: Callable[[tuple[Job, ...]], None],
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> tuple[Job, ...]:
    """The jobs that still run when time is up; none where the nodes are empty."""
    end = clock() + limit_s
    while jobs := control.jobs(nodes):
        told(jobs)
        if clock() >= end:
            return jobs
        sleep(_EVERY_S)
    return ()


def admit(
    control: NodeControl,
    nodes: Collection[str],
    user: str,
    verify: Verify,
    *,
    limit_s: float = 180,
    sleep: Callable[[float], None] = time.sleep,
) -> dict[str, str]:
    """Verify drained nodes and leave them in service; node → why, for those that stay drained.

    `verify` runs small jobs in the reservation that it is given.
    """
    failed = _absent(control, nodes, limit_s, sleep)
    here = [name for name in nodes if name not in failed]
    if here:
        failed |= _tried(control, here, user, verify)
    for node, why in failed.items():
        control.drain([node], why)
    return failed


def _absent(
    control: NodeControl, nodes: Collection[str], limit_s: float, sleep: Callable[[float], None]
) -> dict[str, str]:
    """node → why it cannot be tried: it has not come up in time."""
    waited = 0.0
    while True:
        states = control.states()
        away = {name: states.get(name, ("", ""))[0] or "unknown to slurmctld" for name in nodes}
        away = {name: state for name, state in away.items() if state.startswith(_AWAY) or state.endswith("*")}
        if not away or waited >= limit_s:
            return {
                name: f"not verified: it is {state}, slurmd has not registered"
                for name, state in away.items()
            }
        sleep(_EVERY_S)
        waited += _EVERY_S


def _tried(control: NodeControl, nodes: Sequence[str], user: str, verify: Verify) -> dict[str, str]:
    """Nobody else's job starts there meanwhile: the reservation is made while the nodes are drained still."""
    name = f"slurmwright_{nodes[0]}".replace(".", "_")
    control.run(
        "scontrol",
        "create",
        f"ReservationName={name}",
        f"Nodes={control.range(nodes)}",
        f"Users={user}",
        "StartTime=now",
        "Duration=60",
        "Flags=IGNORE_JOBS",
    )
    try:
        control.resume(nodes)
        report = verify(name)
        failed = faults_of(report, nodes)
        if failed:
            # Before the reservation goes: else a job could start there.
            control.drain(list(failed), "verify failed")
        return failed
    except BaseException:
        control.drain(nodes, "verify did not end")
        raise
    finally:
        control.run("scontrol", "delete", f"ReservationName={name}")


def faults_of(report: Report, nodes: Collection[str]) -> dict[str, str]:
    """node → its first finding, or what was not checked; nodes of which all is well are left out."""
    failed: dict[str, str] = dict(_found(report))
    passed = {
        name
        for check in report.checks
        if check.passed and check.name != IN_SERVICE
        for name in expand(check.nodes)
    }
    skipped = {
        name: check.skipped for check in report.checks if check.skipped for name in expand(check.nodes)
    }
    for name in nodes:
        if name not in passed and name not in failed:
            failed[name] = f"not verified: {skipped.get(name, 'no job ran there')}"
    return {name: failed[name] for name in nodes if name in failed}


def _found(report: Report) -> Iterator[tuple[str, str]]:
    for check in reversed(report.checks):
        if check.passed is False:
            yield from ((name, f"verify {check.name}: {check.evidence[0]}") for name in expand(check.nodes))
    for finding in reversed(report.findings):
        if finding.host and finding.severity.value != "info":
            yield from ((name, f"{finding.rule}: {finding.message}") for name in expand(finding.host))


def told(failed: Mapping[str, str]) -> Iterator[str]:
    """One line for each node that stays drained."""
    yield from (f"{node} stays drained: {why}" for node, why in failed.items())
