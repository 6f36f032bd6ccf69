"""ND009: a NodeSet with the name of a node."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, rule


@rule(
    "ND009",
    "node-sets-named-as-nodes",
    ERROR,
    releases="24.11+",
    why="""From 24.11 the daemons check this. A NodeSet and a node of one name cannot be told apart in "
    "Nodes=; the daemons refuse the file.""",
    fix="another name for the NodeSet",
    references=(
        "Slurm source, src/common/read_config.c: NodeSet with name overlaps with an existing NodeName",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    tree = seen.config.slurm
    for line in tree.all("NodeSet") if tree else ():
        pair = line.statement.pairs[0]
        if pair.value in seen.config.node_index:
            yield Fault(f"NodeSet={pair.value} has the name of a node", Place(line.doc.file, pair.line))
