"""NC007: speeds and classes that count as others."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, topology_faults
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.topology.nccl_mistakes import SPEED


@rule(
    "NC007",
    "topology-speeds-misread",
    ERROR,
    why="""A speed that NCCL does not know counts as PCIe Gen3, a NIC's speed is in Mbit/s. NCCL
        then plans with a fraction of the bandwidth, and says so nowhere.""",
    fix='link_speed="32.0 GT/s PCIe" for Gen5, speed="400000" for 400 Gbit/s',
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    return topology_faults(seen, SPEED)
