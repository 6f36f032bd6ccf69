"""SE009: a node without RealMemory has one megabyte to hand out."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "SE009",
    "nodes-of-one-megabyte",
    ERROR,
    by_release=True,
    why="""RealMemory is 1 MB where a node line does not say it. With memory as a consumable no job that
        asks for more, or gets more by default, ever starts on the node.""",
    fix="RealMemory= a few percent below what slurmd -C prints",
    references=("https://slurm.schedmd.com/slurm.conf.html (RealMemory)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if not seen.hands_out_memory:
        return
    overrides = config.has("SlurmdParameters", "config_overrides")
    for node in config.nodes:
        if not node.text("RealMemory") and node.is_real and not overrides:
            yield Fault(
                f"{node.written} has no RealMemory, which is 1 MB then", node.place, about=node.written
            )
