"""CG006: task/cgroup is on, and neither cores nor memory that Slurm hands out are fenced."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Repair, rule


@rule(
    "CG006",
    "cores-unconstrained",
    WARNING,
    why="""Slurm hands out cores, and without ConstrainCores=yes (the default is no) a job that starts more
        threads than it asked for runs them on the cores of others, next to their GPUs.""",
    fix="ConstrainCores=yes",
    references=("https://slurm.schedmd.com/cgroup.conf.html (ConstrainCores)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    cgroup = config.cgroup
    if config.slurm is None or cgroup is None or config.truth("ConstrainCores", "cgroup.conf"):
        return
    if "task/cgroup" not in config.task_plugins or "select/linear" in config.value("SelectType").lower():
        return
    yield Fault(
        "cgroup.conf does not set ConstrainCores=yes, so jobs run on the cores of others",
        config.place("ConstrainCores", "cgroup.conf"),
        repair=Repair(cgroup.top, changes.set_key(cgroup.top, "ConstrainCores", "yes")),
    )
