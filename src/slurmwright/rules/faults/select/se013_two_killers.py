"""SE013: two ways to enforce memory limits at once."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "SE013",
    "two-memory-enforcers",
    ERROR,
    why="""JobAcctGatherParams=OverMemoryKill polls and kills, ConstrainRAMSpace lets the kernel do it.
        slurmctld refuses to start with both; UsePss beside NoShared is refused too.""",
    fix="remove OverMemoryKill: ConstrainRAMSpace=yes is exact",
    references=(
        "Seen with slurmctld 22.05.8: Jobs memory is being constrained by both",
        "Slurm source, src/slurmctld/read_config.c",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    key = "JobAcctGatherParams"
    fenced = config.truth("ConstrainRAMSpace", "cgroup.conf") and "task/cgroup" in config.task_plugins
    if config.has(key, "overmemorykill") and fenced:
        yield Fault(
            "OverMemoryKill and ConstrainRAMSpace=yes exclude each other; slurmctld does not start",
            config.place(key),
            about="kill",
        )
    if config.has(key, "usepss") and (config.has(key, "noshared") or config.has(key, "noshare")):
        yield Fault(
            "UsePss and NoShared exclude each other; slurmctld does not start", config.place(key), about="pss"
        )
