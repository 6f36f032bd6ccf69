"""CG007: memory is handed out by amount and nothing holds a job to its amount."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Repair, rule


@rule(
    "CG007",
    "memory-unconstrained",
    WARNING,
    by_release=True,
    why="""Memory is a consumable here, and without ConstrainRAMSpace=yes (the default is no) nothing stops
        a job that takes more than it asked for: the kernel then kills a process of any job on the node.""",
    fix="ConstrainRAMSpace=yes",
    references=("https://slurm.schedmd.com/cgroup.conf.html (ConstrainRAMSpace)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    cgroup = config.cgroup
    if config.slurm is None or cgroup is None or config.truth("ConstrainRAMSpace", "cgroup.conf"):
        return
    killer = config.has("JobAcctGatherParams", "overmemorykill")
    if seen.hands_out_memory and not killer and "task/cgroup" in config.task_plugins:
        yield Fault(
            "memory is handed out by amount, and cgroup.conf does not set ConstrainRAMSpace=yes, so nothing "
            "holds a job to its amount",
            config.place("ConstrainRAMSpace", "cgroup.conf"),
            repair=Repair(cgroup.top, changes.set_key(cgroup.top, "ConstrainRAMSpace", "yes")),
        )
