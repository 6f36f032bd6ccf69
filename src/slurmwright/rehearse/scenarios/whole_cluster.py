"""Verdict `whole-cluster`: for each partition a job that takes all of its GPUs starts."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import expand
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.slurm_text import JobState
from slurmwright.rehearse.values import Verdict

NAME = "whole-cluster"


def judge(machine: Machine) -> Verdict:
    """Try every distinct set of nodes once."""
    bad: list[str] = []
    good: list[str] = []
    tried: set[tuple[str, ...]] = set()
    for partition, members in jobs.partitions(machine).items():
        if members in tried:
            continue
        tried.add(members)
        gpus = _gpus(machine, members)
        faults = list(_faults(machine, partition, members, gpus))
        bad += [f"partition {partition}: {fault}" for fault in faults]
        if not faults:
            good.append(f"partition {partition}: one job holds {len(members)} nodes with {gpus} GPUs")
    return Verdict(NAME, not bad, tuple(bad or good or ("no partition is UP and has nodes",)))


def _gpus(machine: Machine, members: tuple[str, ...]) -> int:
    """How many GPUs these nodes have by their hardware."""
    shapes = {host.node: host.shape for host in machine.cast.compute}
    return sum(len(shape.gpus) for node in members if (shape := shapes.get(node)) is not None)


def _faults(machine: Machine, partition: str, members: tuple[str, ...], gpus: int) -> Iterator[str]:
    request = ["-p", partition, "-N", str(len(members)), "--exclusive"]
    request += [f"--gpus={gpus}"] if gpus else []
    try:
        with jobs.jobs(machine, [request]) as ids:
            seen = jobs.settle(
                machine,
                ids,
                lambda now: bool(now) and all(job.state == "RUNNING" and job.shares for job in now.values()),
                20 + len(members) * 0.05,
            )
    except jobs.SubmitError as error:
        yield str(error)
        return
    if not seen:
        yield f"a job of {len(members)} nodes and {gpus} GPUs is gone from slurmctld's list"
    for job in seen.values():
        if job.state != "RUNNING":
            yield f"a job of {len(members)} nodes and {gpus} GPUs does not start: {job.state}, {job.reason}"
        elif (held := _held(job)) != gpus:
            yield f"the job holds {held} GPUs, the nodes have {gpus}"


def _held(job: JobState) -> int:
    return sum(len(expand(share.node)) * len(share.gpu_indexes) for share in job.shares)
