"""TO003: nodes in the topology that slurm.conf does not have."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.rules.topology_seen import topologies


@rule(
    "TO003",
    "topology-nodes-unknown",
    ERROR,
    by_release=True,
    why="""slurmctld logs "lookup failure for node" for each of them at every start. They are names that
        were changed or mistyped: the nodes that were meant are outside the topology.""",
    fix="Nodes= with nodes that slurm.conf defines",
    references=(
        "Seen with slurmctld 22.05.8, 24.11.5 and 26.05.5: lookup failure for node",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if not config.node_index or config.setting("MaxNodeCount"):
        return
    for found in topologies(config, seen.release):
        for unit in found.units:
            unknown = [
                name for name in unit.node_names if name not in config.node_index and name.upper() != "ALL"
            ]
            if unknown:
                shown = ", ".join(unknown) if len(unknown) <= 4 else fold(unknown)
                text = f"{unit.name} has {shown}, which slurm.conf does not define"
                yield Fault(text, unit.place, about=unit.name)
