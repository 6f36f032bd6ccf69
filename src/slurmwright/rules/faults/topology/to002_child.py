"""TO002: a switch above a switch that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.rules.topology_seen import topologies


@rule(
    "TO002",
    "switches-undefined",
    ERROR,
    by_release=True,
    why="""A name in Switches= that no SwitchName line defines ends slurmctld with "has invalid child"; the
        nodes that were meant to hang there are in no switch.""",
    fix="SwitchName=… Nodes=… for the missing switch",
    references=(
        "Seen with slurmctld 22.05.8, 24.11.5 and 26.05.5: has invalid child",
        "https://slurm.schedmd.com/topology.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for found in topologies(seen.config, seen.release):
        known = {unit.name for unit in found.units}
        for unit in found.units:
            lost = [name for name in unit.child_names if name not in known]
            if lost:
                yield Fault(
                    f"{unit.name} has the switch {', '.join(lost[:5])} below it, which is not defined; "
                    "slurmctld does not "
                    "start",
                    unit.place,
                    about=unit.name,
                )
