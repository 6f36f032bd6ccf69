"""ND001: a node on two NodeName lines."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "ND001",
    "nodes-defined-twice",
    ERROR,
    why="""Each node stands on one NodeName line, however many partitions it is in. A second one ends
        slurmctld with "Duplicated NodeName".""",
    fix="one NodeName line for each node; partitions may overlap instead",
    references=(
        "Seen with slurmctld 22.05.8, 24.11.5 and 26.05.5: Duplicated NodeName",
        "https://slurm.schedmd.com/slurm.conf.html (NodeName)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    index = seen.config.node_index
    for line in seen.config.nodes:
        again = sorted({name for name in line.names if index[name] is not line})
        inside = len(line.names) != len(set(line.names))
        if again:
            first = index[again[0]]
            shown = ", ".join(again) if len(again) <= 4 else fold(again)
            yield Fault(
                f"{shown} {'is' if len(again) == 1 else 'are'} on line {first.place.line} already; "
                "slurmctld does not "
                "start",
                line.place,
                about=line.written,
            )
        elif inside:
            yield Fault(f"{line.written} names a node twice; slurmctld does not start", line.place)
