"""NC029: the file describes another node than this one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_topology_seen import SOURCES, seen_version, topology_files
from slurmwright.rules.rule import ERROR, Fault, Place, Scope, rule
from slurmwright.topology.nccl_against import node_mistakes
from slurmwright.topology.nccl_judge import judge_topology


@rule(
    "NC029",
    "topology-of-another-node",
    ERROR,
    scope=Scope.CLUSTER,
    why="""NCCL believes its file and not the machine: a NIC below the wrong socket sends every byte over the
        link between sockets, and a GPU that the file lacks is placed as if there were no file.""",
    fix="slurmwright nccl topo -i DIR --type TYPE --format xml writes one that fits",
    references=SOURCES,
)
def check(seen: Evidence) -> Iterator[Fault]:
    nccl = seen.inventory.get("nccl")
    known = nccl.get("devices") if isinstance(nccl, Mapping) else None
    if not isinstance(known, Mapping):
        return
    devices = {str(pci): facts for pci, facts in known.items() if isinstance(facts, Mapping)}
    for path, data in topology_files(seen):
        system = judge_topology(data, seen_version(seen)).system
        for mistake in node_mistakes(system, devices) if system else ():
            yield Fault(mistake.message, Place(path, mistake.line), fix=mistake.fix, about=mistake.message)
