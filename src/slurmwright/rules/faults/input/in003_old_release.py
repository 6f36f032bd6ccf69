"""IN003: a release older than the ones that are known is judged as the oldest known one, and told so."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.release import SERIES
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, Fault, rule


@rule(
    "IN003",
    "release-too-old-to-know",
    INFO,
    why=f"""Keys, plugins and behaviour are known from Slurm {SERIES[0]} on. An older release is judged as
        {SERIES[0]}; what came with that one is reported as missing before it.""",
    fix="Upgrade: SchedMD supports the last three releases only.",
    references=("https://slurm.schedmd.com/upgrades.html",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    if seen.asked:
        yield Fault(f"Slurm {seen.asked} is judged as {SERIES[0]}, the oldest release that is known here")
