"""GR020: AutoDetect= on a device line without NodeName= has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR020",
    "autodetect-without-node",
    ERROR,
    why="""AutoDetect= stands on a line of its own, for the whole file, or on a line that begins with
        NodeName=. On a line that begins with Name= slurmd logs an error and ignores it.""",
    fix="AutoDetect=nvml on a line of its own, or NodeName=… AutoDetect=nvml Name=gpu",
    references=("Slurm source, src/interfaces/gres.c: In-line AutoDetect requires NodeName to take effect",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for line in seen.config.gres_lines:
        if line.autodetect and not line.is_global and line.nodes is None:
            yield Fault(f"AutoDetect={line.autodetect} on a line without NodeName= is ignored", line.place)
