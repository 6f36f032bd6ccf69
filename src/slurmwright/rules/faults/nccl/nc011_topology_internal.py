"""NC011: what NCCL fills in for itself stands in the file."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, topology_faults
from slurmwright.rules.rule import WARNING, Fault, rule
from slurmwright.topology.nccl_mistakes import INTERNAL


@rule(
    "NC011",
    "topology-keeps-internals",
    WARNING,
    why="""A dump holds what NCCL worked out for one start. A host_hash, rank or number of another
        start contradicts the next one.""",
    fix="take host_hash, rank and mlopart out of a dump",
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    return topology_faults(seen, INTERNAL)
