"""SE012: a select plugin that cannot work with what else is set."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "SE012",
    "linear-with-what-needs-cons-tres",
    ERROR,
    by_release=True,
    why="""From 24.05 slurmctld does not start with select/linear and topology/tree, and MaxNodeCount
        (dynamic nodes), MPS and shards need select/cons_tres in every release.""",
    fix="SelectType=select/cons_tres",
    references=(
        "Slurm source, src/common/read_config.c: select/linear with topology/tree is not supported",
        "Slurm source, src/interfaces/gres.c: Use of shared gres requires the use of select/cons_tres",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if "linear" not in seen.effective("SelectType"):
        return
    needs = []
    if seen.release.at_least("24.05") and "tree" in config.value("TopologyPlugin").lower():
        needs.append("TopologyPlugin")
    needs += ["MaxNodeCount"] if config.setting("MaxNodeCount") else []
    needs += ["GresTypes"] if {"mps", "shard"} & set(config.words("GresTypes")) else []
    for key in needs:
        yield Fault(
            f"{key}={config.value(key)} needs select/cons_tres, and select/linear is taken; slurmctld does "
            "not start",
            config.place(key),
            about=key,
        )
