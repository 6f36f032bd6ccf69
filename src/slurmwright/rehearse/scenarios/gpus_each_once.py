"""Verdict `gpus-each-once`: plain one-GPU jobs fill a node, each GPU goes to one job, the next job waits.

The jobs ask for nothing but a GPU, as users do: a cluster whose defaults give the first such job all the
memory or all the cores of the node fails here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.scenarios.samples import Sample, by_fault, samples
from slurmwright.rehearse.slurm_text import JobState
from slurmwright.rehearse.values import Verdict

NAME = "gpus-each-once"


def judge(machine: Machine) -> Verdict:
    """Try one node of each shape and configuration, all at once, with one job more than it has GPUs."""
    tried = samples(machine)
    bad = _faults(machine, [s for s in tried if s.tried])
    bad += [(s.node, s.trouble) for s in tried if s.trouble]
    good = [_good(sample) for sample in tried]
    if not any(sample.tried for sample in tried) and not bad:
        return Verdict.not_checked(NAME, *(good or ("no node has GPUs",)))
    return Verdict(NAME, not bad, by_fault(bad) or tuple(good))


def _good(sample: Sample) -> str:
    if sample.apart:
        return f"{sample.node}: not tried: {sample.apart}"
    total = len(sample.shape.gpus)
    return f"{sample.node}: {total} plain one-GPU jobs hold GPUs 0 to {total - 1}, one each; one more waits"


def _faults(machine: Machine, tried: Sequence[Sample]) -> list[tuple[str, str]]:
    owners = [sample for sample in tried for _ in range(len(sample.shape.gpus) + 1)]
    requests = [["-p", s.partition, "-w", s.node, "-N1", "--gpus=1"] for s in owners]
    try:
        with jobs.jobs(machine, requests) as ids:
            owner_of = dict(zip(ids, owners, strict=True))
            seen = jobs.settle(machine, ids, lambda now: _filled(now, owner_of))
    except jobs.SubmitError as error:
        return [("sbatch", str(error))]
    return [
        (sample.node, fault)
        for sample in tried
        for fault in _node_faults(sample, [job for i, job in seen.items() if owner_of[i] == sample])
    ]


def _node_faults(sample: Sample, own: Sequence[JobState]) -> Iterator[str]:
    total = len(sample.shape.gpus)
    running = [job for job in own if job.state == "RUNNING"]
    indexes = sorted(i for job in running for share in job.shares for i in share.gpu_indexes)
    if len(running) > total:
        yield f"{len(running)} one-GPU jobs run at once on {total} GPUs"
    elif len(running) < total:
        yield f"only {len(running)} of {total} plain one-GPU jobs run at once; {_holder(running)}"
    elif left := [job.state for job in own if job.state not in ("RUNNING", "PENDING")]:
        yield f"the job beyond the GPUs is {left[0]}, expected it to wait"
    if len(set(indexes)) != len(indexes):
        yield f"a GPU was given to two jobs: indexes {indexes}"
    elif len(running) == total and indexes != list(range(total)):
        yield f"the jobs hold GPU indexes {indexes}, expected 0 to {total - 1}"


def _filled(now: Mapping[int, JobState], owner_of: Mapping[int, Sample]) -> bool:
    """Every sample has all its GPUs taken, and slurmctld has said of the job left over why it waits."""
    running = sum(job.state == "RUNNING" for job in now.values())
    waiting = sum(job.state == "PENDING" and job.reason not in ("None", "Priority") for job in now.values())
    samples_tried = len(set(owner_of.values()))
    return running == len(owner_of) - samples_tried and waiting == samples_tried


def _holder(running: Sequence[JobState]) -> str:
    if not running or not running[0].shares:
        return "none got anything"
    share = running[0].shares[0]
    return (
        f"the first alone holds {len(share.cpu_ids)} CPUs and {share.memory_mb} MB: give the partition "
        "DefCpuPerGPU and DefMemPerGPU"
    )
