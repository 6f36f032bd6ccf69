"""TO005: nodes that are in no switch or block."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule
from slurmwright.rules.topology_seen import topologies


@rule(
    "TO005",
    "nodes-outside-the-topology",
    WARNING,
    by_release=True,
    why="""A node in no switch or block is reached by no other: Slurm warns once ("switches lack access to
        nodes") and never gives it to a job together with others.""",
    fix="add the nodes to a switch, if only to one of their own below the top",
    references=(
        "Slurm source, src/plugins/topology/tree: switches lack access to %d nodes",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    found = topologies(config, seen.release)
    if not found or not config.node_index:
        return
    inside = {name for one in found for unit in one.units for name in unit.node_names}
    if any(unit.nodes.upper() == "ALL" for one in found for unit in one.units) or not inside:
        return
    outside = [
        name
        for name, line in config.node_index.items()
        if name not in inside and line.is_real and not line.text("Topology")
    ]
    if outside:
        shown = ", ".join(outside) if len(outside) <= 4 else fold(outside)
        yield Fault(
            f"{shown} {'is' if len(outside) == 1 else 'are'} in none", found[0].place, about="outside"
        )
