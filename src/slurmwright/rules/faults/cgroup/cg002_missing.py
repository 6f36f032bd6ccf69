"""CG002: Slurm is told to use cgroups and there is no cgroup.conf, so nothing is confined."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import CRITICAL, WARNING, Fault, rule


@rule(
    "CG002",
    "cgroup-conf-missing",
    CRITICAL,
    why="""Every Constrain key is off by default. Without the file slurmd logs one info line ("No
        cgroup.conf file, using defaults") and task/cgroup confines nothing: jobs reach the GPUs, cores and
        memory of others.""",
    fix="a file cgroup.conf with ConstrainDevices=yes, ConstrainCores=yes and ConstrainRAMSpace=yes",
    references=(
        "https://github.com/fgci-org/ansible-role-slurm/pull/9",
        "Seen with slurmd -G of Slurm 26.05.5",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.slurm is None or config.cgroup is not None or not seen.whole:
        return
    named = [key for key in ("TaskPlugin", "ProctrackType") if "cgroup" in config.value(key).lower()]
    if not named and not config.has_gpus:
        return
    told = f"{named[0]} names cgroup and there" if named else "nodes have GPUs and there"
    lost = "GPUs, cores and memory" if config.has_gpus else "cores and memory"
    yield Fault(
        f"{told} is no cgroup.conf: ConstrainDevices and every other Constrain key is off, and jobs reach "
        f"the {lost} of others",
        config.place(named[0] if named else "TaskPlugin"),
        severity=None if config.has_gpus else WARNING,
    )
