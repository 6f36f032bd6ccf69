"""CG008: a process tracker that loses processes."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "CG008",
    "processes-that-escape",
    WARNING,
    why="""proctrack/pgid and proctrack/linuxproc follow process groups and parents. A program that
        daemonises leaves both: it survives its job, keeps its GPU memory, and is counted and killed by
        nobody.""",
    fix="ProctrackType=proctrack/cgroup",
    references=("https://slurm.schedmd.com/slurm.conf.html (ProctrackType)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    tracker = config.value("ProctrackType").lower()
    contained = any(word in ("contain", "x11", "runinjob") for word in config.words("PrologFlags"))
    if tracker in ("proctrack/pgid", "proctrack/linuxproc") and config.has_gpus and not contained:
        yield Fault(f"{tracker} loses processes that leave their parents", config.place("ProctrackType"))
