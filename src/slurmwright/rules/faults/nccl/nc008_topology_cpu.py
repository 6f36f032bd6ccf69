"""NC008: CPUs, masks and NUMA numbers that are read otherwise."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, topology_faults
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.topology.nccl_mistakes import CPU


@rule(
    "NC008",
    "topology-cpus-misread",
    ERROR,
    why="""NCCL pins its threads by the affinity masks and weighs the way between sockets by arch,
        vendor and model. What it does not know counts as a free way; a list in place of a mask
        gives nonsense.""",
    fix="affinity is the mask that /sys/devices/system/node/nodeN/cpumap shows",
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    return topology_faults(seen, CPU)
