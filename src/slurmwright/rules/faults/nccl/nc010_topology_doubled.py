"""NC010: NICs that stand twice, or count as one."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, topology_faults
from slurmwright.rules.rule import WARNING, Fault, rule
from slurmwright.topology.nccl_mistakes import DOUBLED


@rule(
    "NC010",
    "topology-nics-doubled",
    WARNING,
    why="""From 2.22 on the ranks of a node join what each of them sees by comparing complete lists
        of attributes. Where sysfs adds one that the file has not, every NIC below stands twice;
        with one guid for all NICs only one of them is used.""",
    fix="list only cpu and pci in the file, or every attribute of each",
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    return topology_faults(seen, DOUBLED)
