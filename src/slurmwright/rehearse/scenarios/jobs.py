"""Submit jobs to the rehearsed cluster, wait for what becomes of them, and clear them away."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.slurm_text import JobState, NodeState, pairs, read_jobs, read_nodes

#: What partitions say that give out whole nodes; 26.05 shows `OverSubscribe=EXCLUSIVE` as `Exclusive=NODE`.
_WHOLE = (
    ("OverSubscribe", "EXCLUSIVE"),
    ("ExclusiveTopo", "YES"),
    ("Exclusive", "NODE"),
    ("Exclusive", "TOPO"),
)


#: States in which the nodes of a job are at work for it.
_UNDER_WAY = ("CONFIGURING", "COMPLETING")
_PAUSE_S = 0.2
#: What a look and the pause after it take on a machine that has time.
_LOOK_S = 0.3
#: Seconds in which no node becomes free, before it is taken for one that never will.
_STUCK_S = 30.0


class SubmitError(Exception):
    """Slurm refused a job; the text is its own."""


@dataclass(frozen=True)
class Limits:
    """Which jobs a partition takes: of how many nodes (`most` None: of any number), by which setting a job
    gets `whole` nodes, and `closed`: why it takes no job of a rehearsal at all."""

    least: int = 0
    most: int | None = None
    whole: str = ""
    closed: str = ""

    @property
    def alone(self) -> str:
        """Why no job of one node can run; "" where one can."""
        return self.closed or (f"takes no job of one node (MinNodes={self.least})" if self.least > 1 else "")

    @property
    def apart(self) -> str:
        """Why jobs of one GPU cannot run side by side on a node; "" where they can."""
        return self.alone or (f"gives out whole nodes only ({self.whole})" if self.whole else "")


@contextmanager
def jobs(machine: Machine, requests: Iterable[Iterable[str]]) -> Iterator[tuple[int, ...]]:
    """Submit one sleeping job per request; cancel them all and wait for idle nodes on leaving."""
    ids: list[int] = []
    try:
        for options in requests:
            done = machine.ctl("sbatch", "--parsable", "-o", "/dev/null", *options, "--wrap", "sleep 600")
            if not done.ok or not done.out.strip().split(";")[0].isdigit():
                raise SubmitError(f"sbatch {' '.join(options)}: {done.last_line}")
            ids.append(int(done.out.strip().split(";")[0]))
        yield tuple(ids)
    finally:
        if ids:
            machine.ctl("scancel", *map(str, ids))
            wait_until_free(lambda: sum(node.busy for node in nodes(machine)) + _queued(machine))


def settle(
    machine: Machine,
    ids: tuple[int, ...],
    done: Callable[[dict[int, JobState]], bool],
    limit_s: float = 120,
    quiet_s: float = 6,
) -> dict[int, JobState]:
    """Look at the jobs until `done`, until nothing changes for `quiet_s`, or the limit; gives the last look.

    slurmctld tries to start a job when it is submitted and again within 3 s (its batch_sched_delay), so a
    picture that holds for twice that time is its answer. On a machine so busy that a look takes long, it has
    to hold for as many looks; a job whose nodes run their prolog has its answer still to come.
    """
    end = time.monotonic() + limit_s
    seen: dict[int, JobState] = {}
    since, looks = time.monotonic(), 0
    while True:
        text = machine.answer("scontrol", "show", "job", "-d", "-o")
        now = {job.id: job for job in read_jobs(text) if job.id in ids}
        looks += 1
        if now != seen or any(job.state in _UNDER_WAY for job in now.values()):
            seen, since, looks = now, time.monotonic(), 0
        still = time.monotonic() > since + quiet_s and looks > quiet_s / _LOOK_S
        if done(seen) or still or time.monotonic() > end:
            return seen
        time.sleep(_PAUSE_S)


def nodes(machine: Machine) -> tuple[NodeState, ...]:
    return read_nodes(machine.answer("scontrol", "show", "node", "-o"))


def partitions(machine: Machine) -> dict[str, tuple[str, ...]]:
    """Partitions that take jobs, with their nodes, the default one first."""
    return {row["PartitionName"]: names for row in _up(machine) if (names := _names(row["Nodes"]))}


def limits(machine: Machine) -> dict[str, Limits]:
    """What the same partitions say of the jobs that they take."""
    return {row["PartitionName"]: _limits(row) for row in _up(machine)}


def _up(machine: Machine) -> list[dict[str, str]]:
    rows = [pairs(line) for line in machine.answer("scontrol", "show", "partition", "-o").splitlines()]
    usable = [row for row in rows if row.get("State") == "UP" and row.get("Nodes", "(null)") != "(null)"]
    return sorted(usable, key=lambda row: row.get("Default") != "YES")


def _limits(row: dict[str, str]) -> Limits:
    most, least = row.get("MaxNodes", ""), row.get("MinNodes", "")
    closed = ""
    if row.get("ReqResv") == "YES":
        closed = "takes jobs of reservations only (ReqResv=YES)"
    elif row.get("AllocNodes", "ALL") != "ALL":
        closed = f"takes jobs from certain hosts only (AllocNodes={row['AllocNodes']})"
    return Limits(
        int(least) if least.isdigit() else 0,
        int(most) if most.isdigit() else None,
        next((f"{key}={value}" for key, value in _WHOLE if row.get(key) == value), ""),
        closed,
    )


def _names(text: str) -> tuple[str, ...]:
    """Slurm takes node names that are no host names; no host of a rehearsal has one."""
    try:
        return expand(text)
    except InputError:
        return ()


def _queued(machine: Machine) -> int:
    return len(machine.answer("squeue", "-h").splitlines())


def wait_until_free(count: Callable[[], int]) -> None:
    """Wait until nothing is left, as long as it becomes less."""
    least, since = count(), time.monotonic()
    while least and time.monotonic() < since + _STUCK_S:
        time.sleep(_PAUSE_S)
        left = count()
        if left < least:
            least, since = left, time.monotonic()
