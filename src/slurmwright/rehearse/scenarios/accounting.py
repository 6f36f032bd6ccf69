"""Verdict `accounting`: the cluster is in the database, and a job is recorded there with its GPU.

What must be recorded comes from the hardware: one GPU, and one GPU of the type that the node has.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.scenarios.samples import Sample, by_fault, samples
from slurmwright.rehearse.slurm_text import pairs
from slurmwright.rehearse.values import Verdict

NAME = "accounting"
_RECORDED_WITHIN_S = 15


def judge(machine: Machine, without: str) -> Verdict:
    """`without` says why no slurmdbd runs here; "" where one does."""
    if without:
        return Verdict.not_checked(NAME, without)
    bad = [("slurmdbd", fault) for fault in _registration(machine)]
    tried = samples(machine)
    good: list[str] = []
    for sample in _one_of_each_type(tried):
        record = _record(machine, sample)
        faults = list(_faults(machine, sample, record))
        bad += [(sample.node, fault) for fault in faults]
        if not faults:
            good.append(f"{sample.node}: a one-GPU job is recorded with {_shown(record)}")
    return Verdict(NAME, not bad, by_fault(bad) or ("the cluster is registered in slurmdbd", *good))


def tres(text: str) -> dict[str, str]:
    """`cpu=16,gres/gpu=1,mem=249000M` → one value for each name."""
    return dict(one.split("=", 1) for one in text.split(",") if "=" in one)


def _registration(machine: Machine) -> Iterator[str]:
    shown = machine.ctl("sacctmgr", "-nP", "show", "cluster", "format=cluster,controlhost")
    rows = [line.split("|") for line in shown.out.splitlines()]
    if not any(len(row) > 1 and row[1] for row in rows):
        yield f"no slurmctld has registered its cluster: {shown.last_line}"


def _one_of_each_type(tried: tuple[Sample, ...]) -> list[Sample]:
    return list({s.shape.gpu_types: s for s in reversed(tried) if s.tried}.values())


def _record(machine: Machine, sample: Sample) -> str:
    """What slurmdbd knows of one job as soon as it knows its resources, or "", or why none was taken."""
    request = ["-p", sample.partition, "-w", sample.node, "-N1", "--gpus=1"]
    try:
        with jobs.jobs(machine, [request]) as ids:
            end = time.monotonic() + _RECORDED_WITHIN_S
            found = ""
            while not found and time.monotonic() < end:
                time.sleep(0.3)
                asked = ["sacct", "-nPX", "-j", str(ids[0]), "-o", "AllocTRES"]
                found = machine.ctl(*asked).out.strip()
            return found
    except jobs.SubmitError as error:
        return str(error)


def _faults(machine: Machine, sample: Sample, record: str) -> Iterator[str]:
    held = tres(record)
    if not held:
        yield f"a one-GPU job is not in the database: {record or 'sacct shows no resources for it'}"
        return
    if held.get("gres/gpu") != "1":
        yield f"a one-GPU job is recorded without gres/gpu=1: {record}"
    types = [kind for kind, _ in sample.shape.gpu_types if kind]
    if types and not any(held.get(f"gres/gpu:{kind}") == "1" for kind in types):
        wanted = " or ".join(f"gres/gpu:{kind}=1" for kind in types)
        yield f"a one-GPU job is recorded without {wanted}: {record}"
    if _weighted(machine, sample.partition) and held.get("billing", "0") == "0":
        yield f"partition {sample.partition} weighs what is billed, but the job bills nothing: {record}"


def _weighted(machine: Machine, partition: str) -> bool:
    row = pairs(machine.answer("scontrol", "show", "partition", "-o", partition))
    return row.get("TRESBillingWeights", "(null)") != "(null)"


def _shown(record: str) -> str:
    held = tres(record)
    return ",".join(f"{k}={v}" for k, v in held.items() if k.startswith("gres/") or k == "billing")
