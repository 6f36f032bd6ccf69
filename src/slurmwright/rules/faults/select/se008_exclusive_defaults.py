"""SE008: defaults or limits of memory that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "SE008",
    "memory-defaults-that-exclude",
    WARNING,
    why="""DefMemPerCPU and DefMemPerNode exclude each other, and so do MaxMemPerCPU and MaxMemPerNode:
        Slurm keeps the one for the node and drops the other with an error in the log.""",
    fix="keep one of the two",
    references=(
        "Slurm source, src/common/read_config.c: ignored, since it's mutually exclusive",
        "https://slurm.schedmd.com/slurm.conf.html (DefMemPerCPU)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for one, other in (("DefMemPerCPU", "DefMemPerNode"), ("MaxMemPerCPU", "MaxMemPerNode")):
        if config.setting(one) and config.setting(other):
            yield Fault(f"{one} is dropped, since {other} is set", config.place(one), about=one)
        for part in config.partitions:
            if part.text(one) and part.text(other):
                yield Fault(
                    f"partition {part.name}: {one} is dropped, since {other} is set",
                    part.line_of(one),
                    about=f"{part.name} {one}",
                )
