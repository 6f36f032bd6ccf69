"""ND007: fewer nodes are allowed than are defined."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "ND007",
    "more-nodes-than-allowed",
    ERROR,
    why="""MaxNodeCount counts all nodes, static and dynamic. Smaller than the number of NodeName nodes it
        crashes slurmctld of 22.05 and ends later ones.""",
    fix="MaxNodeCount= at least the number of nodes, or no such line without dynamic nodes",
    references=(
        "Seen with slurmctld 22.05.8 (SIGSEGV) and 24.11.5",
        "https://slurm.schedmd.com/dynamic_nodes.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    text = config.value("MaxNodeCount")
    defined = len(config.node_index)
    if text.isdigit() and len(text) < 10 and 0 < int(text) < defined:
        yield Fault(f"MaxNodeCount={text}, and {defined} nodes are defined", config.place("MaxNodeCount"))
