"""NC009: NVLinks that end nowhere."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, topology_faults
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.topology.nccl_mistakes import NVLINK


@rule(
    "NC009",
    "topology-nvlinks-wrong",
    ERROR,
    why="""An NVLink to itself or to a GPU that the file does not have counts for nothing: NCCL then
        goes over PCIe between GPUs that have NVLink.""",
    fix="target is the bus id of the GPU at the other end, and that one answers",
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    return topology_faults(seen, NVLINK)
