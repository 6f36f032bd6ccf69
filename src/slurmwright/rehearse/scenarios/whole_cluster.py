"""Verdict `whole-cluster`: for each partition a job that takes all of its GPUs starts."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import expand, fold
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.slurm_text import JobState
from slurmwright.rehearse.values import Verdict

NAME = "whole-cluster"


def judge(machine: Machine) -> Verdict:
    """Try every distinct set of nodes once, and name the nodes that no partition has."""
    bad: list[str] = []
    good: list[str] = []
    untried: list[str] = []
    tried: set[tuple[str, ...]] = set()
    partitions, limits = jobs.partitions(machine), jobs.limits(machine)
    for partition, members in partitions.items():
        closed = limits[partition].closed
        most = limits[partition].most
        nodes = _with_gpus(machine, members)[:most]
        if nodes in tried or closed:
            untried += [f"partition {partition}: not tried: it {closed}"] if closed else []
            continue
        tried.add(nodes)
        gpus = _gpus(machine, nodes)
        faults = list(_faults(machine, partition, nodes, gpus, nodes != members))
        bad += [f"partition {partition}: {fault}" for fault in faults]
        if not faults:
            limit = f", as many as it takes (MaxNodes={most})" if len(nodes) == most else ""
            good.append(f"partition {partition}: one job holds {len(nodes)} nodes with {gpus} GPUs{limit}")
    reached = {node for members in partitions.values() for node in members}
    left = [host.node for host in machine.cast.compute if host.node not in reached]
    if left:
        bad.append(f"{fold(left)}: in no partition in state UP, so no job can run there")
    if not bad and not good:
        return Verdict.not_checked(NAME, *(untried or ("the cluster has no nodes",)))
    return Verdict(NAME, not bad, tuple(bad or (*untried, *good)))


def _shapes(machine: Machine) -> dict[str, ExpectedNode]:
    return {host.node: host.shape for host in machine.cast.compute if host.shape is not None}


def _with_gpus(machine: Machine, members: tuple[str, ...]) -> tuple[str, ...]:
    """The nodes that one job can take together: a job that asks for GPUs gets no node without one."""
    shapes = _shapes(machine)
    return tuple(node for node in members if node in shapes and shapes[node].gpus) or members


def _gpus(machine: Machine, nodes: tuple[str, ...]) -> int:
    """How many GPUs these nodes have by their hardware."""
    shapes = _shapes(machine)
    return sum(len(shapes[node].gpus) for node in nodes if node in shapes)


def _faults(
    machine: Machine, partition: str, members: tuple[str, ...], gpus: int, named: bool
) -> Iterator[str]:
    request = ["-p", partition, "-N", str(len(members)), "--exclusive"]
    request += [f"--gpus={gpus}"] if gpus else []
    request += ["-w", fold(members)] if named else []
    try:
        with jobs.jobs(machine, [request]) as ids:
            seen = jobs.settle(
                machine,
                ids,
                lambda now: bool(now) and all(job.state == "RUNNING" and job.shares for job in now.values()),
                300 + len(members) * 0.5,
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
