"""Memory, cores and threads: what slurm.conf says against what slurmd finds."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.core.errors import InputError
from slurmwright.core.finding import Severity
from slurmwright.discover.parse import slurmd_c
from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told
from slurmwright.rules.node_lines import NodeLine, whole_number


def _found(host: Host) -> dict[str, int]:
    """The numbers of `slurmd -C`; nothing where it is not its output."""
    text = host.text("slurmd_-C.txt")
    if not text.strip():
        return {}
    try:
        slurmd_c.parse(text, "slurmd_-C.txt")
    except InputError:
        return {}
    return {key: int(value) for key, value in re.findall(r"\b(\w+)=(\d{1,9})\b", text)}


def memory(host: Host) -> Iterator[Told]:
    """RealMemory above what the kernel has: the node is drained at registration."""
    hits, found, line = host.all("memory-low"), _found(host), host.node()
    said = whole_number(line.text("RealMemory")) if line else None
    there = found.get("RealMemory")
    if hits:
        there, said = int(hits[0].part("seen")), int(hits[0].part("wanted"))
    if not there or not said or said <= there or _tolerated(host, line, said, there):
        return
    place = line.line_of("RealMemory") if line else None
    text = f"RealMemory={said} is more than the {there} MiB that the node has: Low RealMemory drains it"
    fix = (
        f"RealMemory={there * 98 // 100} (a little below, as kernel updates and kdump take more), then resume"
    )
    told = Told("DR011", text, hits, fix=fix)
    yield told if place is None else Told("DR011", text, hits, fix=fix, place=place)


def _tolerated(host: Host, line: NodeLine | None, said: int, there: int) -> bool:
    """config_overrides takes slurm.conf's word for the hardware."""
    return "config_overrides" in host.config.value("SlurmdParameters").lower()


def layout(host: Host) -> Iterator[Told]:
    """Sockets, cores and threads of the line against the machine's."""
    found, line, hits = _found(host), host.node(), host.all("cpus-low")
    if line is None or line.shape is None or not found.get("CPUs"):
        return
    said = {
        key: whole_number(line.text(key)) for key in ("Sockets", "CoresPerSocket", "ThreadsPerCore", "CPUs")
    }
    sockets, cores, threads = said["Sockets"], said["CoresPerSocket"], said["ThreadsPerCore"]
    real = found.get("SocketsPerBoard", 1) * found.get("Boards", 1), found.get("CoresPerSocket", 1)
    wanted = said["CPUs"] or (sockets or 1) * (cores or 1) * (threads or 1)
    paste = f"Sockets={real[0]} CoresPerSocket={real[1]} ThreadsPerCore={found.get('ThreadsPerCore', 1)}"
    if wanted > found["CPUs"]:
        text = (
            f"slurm.conf says {wanted} CPUs (Sockets, CoresPerSocket and ThreadsPerCore) and the machine has "
            f"{found['CPUs']}: the node registers as INVAL"
        )
        yield Told("DR013", text, hits, fix=paste, place=line.place)
    elif threads == 1 and found.get("ThreadsPerCore", 1) > 1 and (sockets or cores):
        text = (
            f"ThreadsPerCore=1, and the hardware has {found['ThreadsPerCore']} threads a "
            "core: tasks are bound to one "
            "of them and the others are never used"
        )
        fix = f"{paste} (CPUs={found['CPUs']}); CR_Core hands out whole cores as before"
        yield Told("DR012", text, hits, fix=fix, place=line.line_of("ThreadsPerCore"))


def core_spec(host: Host) -> Iterator[Told]:
    """Reserved cores that slurmctld and slurmd do not agree about."""
    hits = host.all("core-spec-differs")
    if hits:
        line = host.node()
        set_ = [
            f"{key}={line.text(key)}" for key in ("CoreSpecCount", "CPUSpecList") if line and line.text(key)
        ]
        text = "slurmctld and slurmd have different core specialisation: one of them was not restarted"
        text += f" after {set_[0]} was set" if set_ else ""
        yield Told("DR017", f"{text}; restart both, then resume the node", hits)


def job_sees_less(host: Host) -> Iterator[Told]:
    """A job that measured more GPUs or fewer CPUs than it was given."""
    script = host.text("job.sh")
    tasks = re.search(r"--cpus-per-task[= ](\d+)|^#SBATCH.*\s-c ?(\d+)", script, re.MULTILINE)
    wanted = int(tasks[1] or tasks[2]) if tasks else 0
    allowed = host.first("allowed-cpus")
    if wanted < 2 or allowed is None or "," in allowed.part("cpus") or "-" in allowed.part("cpus"):
        return
    old = host.release.startswith(("22.05", "23.02"))
    if re.search(r"^\s*srun\s(?!.*(--cpus-per-task|-c ))", script, re.MULTILINE) and (
        old or not host.release
    ):
        text = (
            f"the step has one CPU although the job asked for {wanted}: in 22.05 and 23.02 "
            "srun does not take "
            "--cpus-per-task from the job; SRUN_CPUS_PER_TASK is not set"
        )
        yield Told("DR014", text, (allowed,))


def jobs(host: Host) -> Iterator[Told]:
    """What srun said of binding."""
    script = host.text("job.sh")
    ordinal = host.all("device-ordinal")
    if ordinal and "--gpus-per-task" in script and not re.search(r"--(gpu|tres)-bind", script):
        text = (
            "invalid device ordinal: --gpus-per-task implies --gpu-bind=per_task, so each "
            "rank sees one GPU with "
            "number 0, and this program takes its local rank for the number"
        )
        yield Told("DR015", text, ordinal)
    bind = host.all("cpu-bind")
    if bind:
        inherited = re.search(r"^SLURM_CPU_BIND=\S+", host.text("env.txt"), re.MULTILINE)
        text = (
            "srun inside a step inherits SLURM_CPU_BIND of the step around it (--cpu-bind), "
            "which does not fit"
        )
        yield Told("DR016", text, bind, (inherited[0],) if inherited else (), severity=Severity.WARNING)


LOOKS = (memory, layout, core_spec, job_sees_less, jobs)
