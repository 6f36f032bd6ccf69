"""A topology file and an NCCL version to the document that says whether and how it would be taken."""

from __future__ import annotations

from dataclasses import dataclass, replace

from slurmwright.catalogue.nccl_versions import NcclVersion
from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.finding import Finding
from slurmwright.rules.evidence import Evidence, HostFile
from slurmwright.rules.registry import all_rules
from slurmwright.rules.runner import judge
from slurmwright.topology.nccl_against import known_devices
from slurmwright.topology.nccl_judge import judge_topology

FORMAT = "slurmwright/nccl-topo-check/1"
_PATH = "/etc/nccl/topo.xml"
_RULES = tuple(f"NC{number:03d}" for number in (*range(5, 12), 29))


@dataclass(frozen=True)
class Checked:
    """The verdict of one version with its findings, the worst first."""

    nccl: str
    refused: bool
    findings: tuple[Finding, ...]

    def as_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "nccl": self.nccl,
            "refused": self.refused,
            "findings": [finding.as_json() for finding in self.findings],
        }


def check_topology(data: bytes, shown: str, version: NcclVersion, kind: NodeType | None = None) -> Checked:
    """Judge the bytes of one file, whatever they are, and hold them against a node type."""
    file = HostFile(_PATH, shown, data.decode("utf-8", "surrogateescape"))
    told: dict[str, object] = {"version": str(version)}
    if kind:
        told["devices"] = known_devices(kind)
    seen = Evidence(files={_PATH: file}, inventory={"nccl": told})
    rules = [rule for rule in all_rules() if rule.id in _RULES]
    found = tuple(replace(one.finding, host="") for one in judge((seen,), rules))
    return Checked(str(version), judge_topology(data, version).refused, found)
