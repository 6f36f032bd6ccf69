"""ND003: nodes that are in no partition."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.node_lines import hosts
from slurmwright.rules.rule import INFO, Fault, rule


@rule(
    "ND003",
    "nodes-in-no-partition",
    INFO,
    why="""No job can reach a node that no partition has. That is how new nodes are kept back, and how they "
    "are forgotten.""",
    fix="Nodes= of a partition, or Nodes=ALL",
    references=("https://slurm.schedmd.com/slurm.conf.html (PartitionName)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    tree = config.slurm
    if tree is None or tree.all("NodeSet") or tree.faults or not config.partitions:
        return
    used: set[str] = set()
    for part in config.partitions:
        if part.text("Nodes").upper() == "ALL":
            return
        used.update(hosts(part.text("Nodes")))
    for line in config.nodes:
        unused = [name for name in line.names if name not in used]
        if unused and line.is_real:
            shown = unused[0] if len(unused) == 1 else f"{unused[0]} to {unused[-1]}"
            yield Fault(f"{shown}: no partition has {'it' if len(unused) == 1 else 'them'}", line.place)
