"""Jobs that see other GPUs than they were given, or that a tool shows wrongly."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.core.finding import Severity
from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told, each

_DOCKER = re.compile(r"^\s*(?:sudo\s+)?(docker|nvidia-docker|podman-remote)\s+(?:run|exec)\b", re.MULTILINE)


def _given(host: Host) -> int | None:
    job = host.text("scontrol_show_job.txt")
    found = re.search(r"\bAllocTRES=\S*?gres/gpu(?::[\w.-]+)?=(\d{1,4})", job)
    return int(found[1]) if found else None


def too_many(host: Host) -> Iterator[Told]:
    """More GPUs in the output than in the allocation."""
    hits, given = host.all("gpu-seen"), _given(host)
    seen = len(set(each(hits, "uuid"))) + max((hit.count - 1 for hit in hits), default=0)
    if given is None or seen <= given:
        return
    if outside := _DOCKER.search(host.text("job.sh")):
        text = (
            f"the job was given {given} GPUs and sees {seen}: {outside[1]} asks a daemon "
            "outside the job's cgroup"
        )
        yield Told("DR080", text, hits)
    else:
        text = f"the job was given {given} GPUs and sees {seen}: nothing confines it to its own"
        yield Told("DR081", text, hits)


def order(host: Host) -> Iterator[Told]:
    """CUDA counts the fastest GPU first, nvidia-smi and Slurm by bus."""
    smi = {hit.part("index"): _bus(hit.part("pci")) for hit in host.all("smi-row")}
    cuda = host.all("cuda-device")
    other = [
        hit for hit in cuda if smi.get(hit.part("index"), _bus(hit.part("pci"))) != _bus(hit.part("pci"))
    ]
    if other:
        text = "CUDA numbers the GPUs otherwise than nvidia-smi and Slurm: it takes the fastest first, as "
        text += "CUDA_DEVICE_ORDER is not set"
        yield Told("DR010", text, tuple(other))


def _bus(text: str) -> str:
    """Bus and device: 00000000:07:00.0 and 0000:07:00 are one."""
    parts = text.lower().partition(".")[0].split(":")
    return ":".join(parts[-2:])


def shown(host: Host) -> Iterator[Told]:
    """squeue's %b, which does not show what was asked for the whole job."""
    asked = re.search(r"\bTresPerJob=\S*gres", host.text("scontrol_show_job.txt"))
    if asked and re.search(r"^\d+\s+N/A\s*$", host.text("squeue.txt"), re.MULTILINE):
        text = "squeue %b shows N/A for jobs that asked with --gpus: it is TRES per node; take tres-alloc"
        yield Told("DR082", text, severity=Severity.INFO)


#: Reasons of waiting jobs that somebody must act on (squeue(1), JOB REASON CODES).
_WAITS = {
    "ReqNodeNotAvail": "nodes that it asked for are drained, down or reserved",
    "BadConstraints": "no node fits what it asks for",
    "PartitionConfig": "it asks for more than the partition can ever give",
    "AssocGrpGRES": "its account has as many GPUs as it may",
    "QOSMaxGRESPerUser": "its user has as many GPUs as the QOS allows",
    "JobHeldAdmin": "an administrator holds it: scontrol release",
    "JobHeldUser": "its user holds it: scontrol release",
    "DependencyNeverSatisfied": "the job that it waits for failed",
    "launch failed requeued held": (
        "its node could not start it: see slurmd's log there, then scontrol release"
    ),
}


def waiting(host: Host) -> Iterator[Told]:
    """A pending job's reason, where waiting alone does not help."""
    for block in re.split(r"(?=\bJobId=)", host.text("scontrol_show_job.txt"))[:1000]:
        job, reason = re.search(r"\bJobId=(\d+)", block), re.search(r"\bReason=(\S+)", block)
        if job and reason and "JobState=PENDING" in block:
            word = next(
                (one for one in _WAITS if reason[1].strip("(),").startswith(one.replace(" ", "_"))), ""
            )
            if word:
                yield Told(
                    "DR083", f"job {job[1]} waits with {reason[1][:60]}: {_WAITS[word]}", (), (reason[0],)
                )


LOOKS = (too_many, order, shown, waiting)
