"""NC005: NCCL stops or crashes at this file."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, topology_faults
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.topology.nccl_mistakes import REFUSED


@rule(
    "NC005",
    "topology-file-refused",
    ERROR,
    why="""NCCL ends every communicator of the node where it cannot read its topology file, or
        crashes. Its reader takes a narrow part of XML, and more of the attributes are needed than
        look so.""",
    fix="slurmwright nccl topo --check FILE --nccl VERSION says whether it is taken now",
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    return topology_faults(seen, REFUSED)
