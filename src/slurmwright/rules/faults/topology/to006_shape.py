"""TO006: switches that are no tree."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.rules.topology_seen import Unit, topologies


@rule(
    "TO006",
    "switches-that-are-no-tree",
    ERROR,
    by_release=True,
    why="""A switch has nodes or switches below it, one switch above it, and a name of its own. Anything
        else ends slurmctld: "has already been defined", "lacks children", "is not a tree".""",
    fix="SwitchName=leaf Nodes=…, SwitchName=top Switches=…, each name once",
    references=(
        "Slurm source, src/plugins/topology/tree/switch_record.c",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for found in topologies(seen.config, seen.release):
        what = "block" if found.kind == "block" else "switch"
        first: dict[str, Unit] = {}
        above: dict[str, str] = {}
        for unit in found.units:
            problem = ""
            if first.setdefault(unit.name, unit) is not unit:
                problem = f"stands on line {first[unit.name].place.line} already"
            elif unit.nodes and unit.children:
                problem = "has both nodes and switches below it"
            elif not unit.nodes and not unit.children:
                problem = "has nothing below it"
            elif unit.name in unit.child_names:
                problem = "is below itself"
            else:
                again = [name for name in unit.child_names if above.setdefault(name, unit.name) != unit.name]
                if again:
                    problem = f"has {again[0]} below it, and so has {above[again[0]]}"
            if problem:
                yield Fault(f"{what} {unit.name} {problem}", unit.place, about=unit.name)
