"""Verdict `gpus-each-once`: plain one-GPU jobs fill a node, each GPU goes to one job, the next job waits.

The jobs ask for nothing but a GPU, as users do: a cluster whose defaults give the first such job all the
memory or all the cores of the node fails here.
"""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.scenarios.gpu_locality import samples
from slurmwright.rehearse.slurm_text import JobState
from slurmwright.rehearse.values import Verdict

NAME = "gpus-each-once"


def judge(machine: Machine) -> Verdict:
    """Try one node of each shape with one job more than it has GPUs."""
    bad: list[str] = []
    good: list[str] = []
    for node, shape in samples(machine).items():
        faults = list(_faults(machine, node, shape))
        bad += [f"{node}: {fault}" for fault in faults]
        if not faults:
            total = len(shape.gpus)
            good.append(
                f"{node}: jobs 1 to {total} hold GPUs 0 to {total - 1}, one each; job {total + 1} waits"
            )
    return Verdict(NAME, not bad, tuple(bad or good or ("no node has GPUs",)))


def _faults(machine: Machine, node: str, shape: ExpectedNode) -> Iterator[str]:
    total = len(shape.gpus)
    partition = jobs.partition_of(machine, node)
    if not partition:
        yield "no partition in state UP has this node, so no job can reach it"
        return
    request = ["-p", partition, "-w", node, "-N1", "--gpus=1"]
    try:
        with jobs.jobs(machine, [request] * (total + 1)) as ids:
            seen = jobs.settle(machine, ids, lambda now: _filled(now, total))
    except jobs.SubmitError as error:
        yield str(error)
        return
    running = [job for job in seen.values() if job.state == "RUNNING"]
    indexes = sorted(i for job in running for share in job.shares for i in share.gpu_indexes)
    if len(running) > total:
        yield f"{len(running)} one-GPU jobs run at once on {total} GPUs"
    elif len(running) < total:
        yield f"only {len(running)} of {total} plain one-GPU jobs run at once; {_holder(running)}"
    if len(set(indexes)) != len(indexes):
        yield f"a GPU was given to two jobs: indexes {indexes}"
    elif len(running) == total and indexes != list(range(total)):
        yield f"the jobs hold GPU indexes {indexes}, expected 0 to {total - 1}"


def _filled(now: dict[int, JobState], total: int) -> bool:
    """All GPUs are taken and the scheduler has looked at the job that must wait."""
    states = [job.state for job in now.values()]
    waiting = [
        job for job in now.values() if job.state == "PENDING" and job.reason not in ("None", "Priority")
    ]
    return states.count("RUNNING") > total or (states.count("RUNNING") == total and bool(waiting))


def _holder(running: list[JobState]) -> str:
    if not running or not running[0].shares:
        return "none got anything"
    share = running[0].shares[0]
    return (
        f"job {running[0].id} alone holds {len(share.cpu_ids)} CPUs and {share.memory_mb} MB: give the "
        "partition DefCpuPerGPU and DefMemPerGPU"
    )
