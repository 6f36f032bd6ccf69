"""ND002: a partition with nodes that are not defined."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.node_lines import hosts
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "ND002",
    "partition-nodes-undefined",
    ERROR,
    why="""A name in Nodes= that no NodeName or NodeSet line defines ends slurmctld with "Invalid node names
        in partition".""",
    fix="define the node, or take it out of the partition",
    references=(
        "Seen with slurmctld 22.05.8",
        "Slurm source, src/slurmctld/read_config.c: Invalid node names in partition",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    tree = config.slurm
    if tree is None or any(fault.kind == "missing" for fault in tree.faults):
        return
    sets = {line.statement.pairs[0].value.lower() for line in tree.all("NodeSet")}
    for part in config.partitions:
        unknown = [name for name in hosts(part.text("Nodes")) if name not in config.node_index]
        unknown = [name for name in unknown if name.lower() not in sets and name.upper() != "ALL"]
        if unknown:
            shown = ", ".join(unknown) if len(unknown) <= 4 else fold(unknown)
            yield Fault(
                f"partition {part.name} has {shown}, which no NodeName or NodeSet line defines; slurmctld "
                "does not start",
                part.line_of("Nodes"),
                about=part.name,
            )
