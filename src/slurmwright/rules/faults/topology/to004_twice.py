"""TO004: a node in two leaf switches or two blocks."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule
from slurmwright.rules.topology_seen import topologies


@rule(
    "TO004",
    "nodes-under-two-switches",
    WARNING,
    by_release=True,
    why="""A node hangs on one leaf switch, or in one block. In two Slurm warns once ("Multiple leaf
        switches contain nodes") and counts hops that are not there, so jobs are placed worse than without a
        topology.""",
    fix="name each node in one leaf switch",
    references=(
        "Seen with slurmctld 24.11.5 and 26.05.5: Multiple leaf switches contain nodes",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for found in topologies(seen.config, seen.release):
        first: dict[str, str] = {}
        for unit in found.units:
            again = [name for name in unit.node_names if first.setdefault(name, unit.name) != unit.name]
            if again:
                shown = ", ".join(again) if len(again) <= 4 else fold(again)
                text = f"{shown} {'is' if len(again) == 1 else 'are'} in {first[again[0]]} and in {unit.name}"
                yield Fault(text, unit.place, about=unit.name)
