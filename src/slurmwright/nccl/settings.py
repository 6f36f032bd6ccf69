"""nccl.conf, a dump of an environment or a job script, as given, to findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.finding import Finding
from slurmwright.rules.evidence import Evidence, HostFile
from slurmwright.rules.nccl_settings import kind_of
from slurmwright.rules.registry import all_rules
from slurmwright.rules.runner import judge
from slurmwright.topology.nccl_tree import compute_nics

FABRICS = ("infiniband", "roce", "efa", "tcp")


def lint_settings(
    texts: Iterable[tuple[str, str]],
    fabric: str | None = None,
    version: str | None = None,
    node_type: NodeType | None = None,
) -> tuple[Finding, ...]:
    """Judge each text by itself; the first of each pair is what reports call it."""
    told: dict[str, Any] = {"fabric": fabric, "version": version, **_adapters(node_type)}
    hosts = [_evidence(shown, text, told) for shown, text in texts]
    return tuple(one.finding for one in judge(hosts, [rule for rule in all_rules() if rule.id[:2] == "NC"]))


def _evidence(shown: str, text: str, told: Mapping[str, Any]) -> Evidence:
    path = kind_of(PurePath(shown).name, text)
    return Evidence(files={path: HostFile(path, shown, text)}, inventory={"nccl": dict(told)})


def _adapters(node_type: NodeType | None) -> dict[str, tuple[str, ...]]:
    if node_type is None:
        return {}
    compute = tuple(nic.name for nic in compute_nics(node_type))
    return {"adapters": (*compute, *(nic.name for nic in node_type.network.devices)), "compute": compute}
