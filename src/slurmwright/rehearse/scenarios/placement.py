"""Verdict `placement`: a job that fits below one leaf switch, or into one block, stays there.

Which hosts belong together comes from the racks of cluster.yaml. So many nodes of the first unit are held
that no job of full size fits there: a Slurm that goes through its nodes in order, without a topology or with
another one, then runs every job across two units.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from slurmwright.core.hosts import expand, fold
from slurmwright.rehearse.expect import ExpectedUnit
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.slurm_text import JobState
from slurmwright.rehearse.values import Verdict

NAME = "placement"
#: Placed jobs that the evidence lists one by one.
_SHOWN = 8


@dataclass(frozen=True)
class Trial:
    """Units of one partition whose nodes are given out with the same weight, widest job first."""

    partition: str
    units: tuple[ExpectedUnit, ...]
    others: tuple[str, ...]

    @property
    def held(self) -> tuple[str, ...]:
        """Nodes of the first unit that are taken so that no job of its full size fits there."""
        first = self.units[0]
        return first.hosts[: len(first.hosts) - first.fits + 1] if len(self.units) > 1 else ()

    @property
    def tried(self) -> tuple[ExpectedUnit, ...]:
        return self.units[1:] if self.held else self.units


def judge(machine: Machine, units: Sequence[ExpectedUnit]) -> Verdict:
    """Fill every unit with a job of its size, one partition after the other."""
    if not units:
        return Verdict.not_checked(NAME, "no topology in cluster.yaml: nothing is to be kept together")
    bad: list[str] = []
    good: list[str] = []
    untried: list[str] = []
    limits = jobs.limits(machine)
    usable: dict[str, tuple[str, ...]] = {}
    for partition, members in jobs.partitions(machine).items():
        narrow = _narrow(limits[partition], members, units)
        untried += [f"partition {partition}: not tried: it {narrow}"] if narrow else []
        usable |= {} if narrow else {partition: members}
    for trial in trials(usable, units):
        placed, faults = _run(machine, trial)
        bad += [f"partition {trial.partition}: {fault}" for fault in faults]
        good += _placed_lines(trial, placed)
    if not bad and not good:
        return Verdict.not_checked(NAME, *(untried or ("no unit has two nodes that a job could join",)))
    return Verdict(NAME, not bad, tuple(bad or (*untried, *good)))


def trials(partitions: dict[str, tuple[str, ...]], units: Sequence[ExpectedUnit]) -> Iterator[Trial]:
    """What to try: every unit once, through the first partition that reaches most of it."""
    done: list[frozenset[str]] = []
    for partition, members in partitions.items():
        inside = frozenset(members)
        reached = [_within(unit, inside) for unit in units]
        usable = [unit for unit in reached if len(unit.hosts) > 1 and unit.fits > 1]
        for weight in dict.fromkeys(unit.weight for unit in usable):
            same = [unit for unit in usable if unit.weight == weight]
            if all(any(earlier.issuperset(unit.hosts) for earlier in done) for unit in same):
                continue
            done += [frozenset(unit.hosts) for unit in same]
            others = inside.difference(*(unit.hosts for unit in same))
            yield Trial(partition, tuple(sorted(same, key=lambda unit: -unit.fits)), tuple(sorted(others)))


def _narrow(limits: jobs.Limits, members: Sequence[str], units: Sequence[ExpectedUnit]) -> str:
    """Why jobs as wide as these units, or of one node, do not fit into a partition; "" where they do."""
    widest = max(len(_within(unit, frozenset(members)).hosts) for unit in units)
    if limits.most is not None and limits.most < widest:
        return f"takes jobs of at most {limits.most} nodes (MaxNodes)"
    return limits.alone


def outside(job: Sequence[str], units: Sequence[ExpectedUnit]) -> str:
    """What a job's nodes have to do with the units: "" where one unit holds all of them."""
    parts = [(unit.name, [node for node in job if node in unit.hosts]) for unit in units]
    touched = [(name, nodes) for name, nodes in parts if nodes]
    if len(touched) == 1 and len(touched[0][1]) == len(job):
        return ""
    return ", ".join(f"{name} {fold(nodes)}" for name, nodes in touched) or fold(job)


def _within(unit: ExpectedUnit, members: frozenset[str]) -> ExpectedUnit:
    hosts = tuple(host for host in unit.hosts if host in members)
    return replace(unit, hosts=hosts, fits=min(unit.fits, len(hosts)))


def _run(machine: Machine, trial: Trial) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Unit → the nodes of the job that it took, and what went wrong."""
    base = ["-p", trial.partition, "--exclusive"]
    away = ["-x", fold(trial.others)] if trial.others else []
    requests = [[*base, "-N", str(unit.fits), *away] for unit in trial.tried]
    if trial.held:
        # Root may lower the niceness: the nodes are taken before any of the jobs that are judged.
        hold = [*base, "-N", str(len(trial.held)), "-w", fold(trial.held), "--nice=-100000"]
        requests.insert(0, hold)
    try:
        with jobs.jobs(machine, requests) as ids:
            seen = jobs.settle(
                machine,
                ids,
                lambda now: bool(now) and all(job.state == "RUNNING" and job.shares for job in now.values()),
                120 + len(requests) * 0.5,
            )
    except jobs.SubmitError as error:
        return {}, [str(error)]
    placed: dict[str, tuple[str, ...]] = {}
    faults: list[str] = []
    for unit, number in zip(trial.tried, ids[1:] if trial.held else ids, strict=True):
        job = seen.get(number)
        if job is None:
            faults.append(f"a job of {unit.fits} nodes is gone from slurmctld's list")
            continue
        nodes = _nodes(job)
        where = outside(nodes, trial.units)
        if job.state != "RUNNING":
            faults.append(f"a job of {unit.fits} nodes does not start: {job.state}, {job.reason}")
        elif where:
            faults.append(
                f"a job of {unit.fits} nodes runs on {fold(nodes)}, not within one {unit.kind}: {where}"
            )
        else:
            placed[next(u.name for u in trial.units if nodes[0] in u.hosts)] = nodes
    return placed, faults


def _nodes(job: JobState) -> tuple[str, ...]:
    return tuple(node for share in job.shares for node in expand(share.node))


def _placed_lines(trial: Trial, placed: dict[str, tuple[str, ...]]) -> Iterator[str]:
    if not placed:
        return
    kind = trial.units[0].kind
    held = f" while {fold(trial.held)} of {trial.units[0].name} was held" if trial.held else ""
    jobs_ran = "1 job" if len(placed) == 1 else f"{len(placed)} jobs"
    yield f"partition {trial.partition}: {jobs_ran}, each within one {kind}{held}"
    shown = list(placed.items())[:_SHOWN]
    yield "; ".join(f"{kind} {name}: {fold(nodes)}" for name, nodes in shown) + (
        f"; and {len(placed) - _SHOWN} more" if len(placed) > _SHOWN else ""
    )
