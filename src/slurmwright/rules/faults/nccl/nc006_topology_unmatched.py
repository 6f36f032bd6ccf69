"""NC006: names that match nothing."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, topology_faults
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.topology.nccl_mistakes import UNMATCHED


@rule(
    "NC006",
    "topology-names-unmatched",
    ERROR,
    why="""NCCL compares bus ids and NIC names as text and skips elements in the wrong place without
        a word: what does not match is as if it were not in the file.""",
    fix='busid="0000:1b:00.0": a domain of four digits, lower case',
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    return topology_faults(seen, UNMATCHED)
