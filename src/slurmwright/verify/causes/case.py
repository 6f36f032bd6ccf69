"""What was seen of a cluster, put together for those who look for causes, and how they tell one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import fold
from slurmwright.verify.config_lines import Line, lines_of
from slurmwright.verify.expect import ExpectedNode
from slurmwright.verify.launches import ALL, BESIDE, BOUND, EXCLUSIVE, HALF, NONE, ONE, PER_TASK
from slurmwright.verify.reached import Data
from slurmwright.verify.values import Point

DEVICE_CHECKS = (NONE, ONE, HALF, ALL, PER_TASK, BOUND, EXCLUSIVE, BESIDE)


@dataclass(frozen=True)
class Case:
    """All that was seen: points, the documents of jobs by node, and of hosts. `reasons` is what slurmctld
    says of nodes that take no job, `read` whether Slurm's files may be used as evidence."""

    points: Sequence[Point]
    jobs: Mapping[str, Sequence[tuple[str, Data]]]
    hosts: Mapping[str, Data]
    shapes: Mapping[str, ExpectedNode]
    reasons: Mapping[str, str] = field(default_factory=dict)
    read: bool = True
    stand_ins: bool = False

    def failed(self, *checks: str) -> dict[str, str]:
        """Node → the first fault of these checks."""
        found: dict[str, str] = {}
        for point in self.points:
            if point.fault and point.check in checks:
                found.setdefault(point.node, point.fault)
        return found

    def lines(self, host: str, name: str) -> tuple[Line, ...]:
        return lines_of(self.hosts.get(host, {}), name) if self.read else ()


#: A finding, the nodes that it is about, and the checks whose failures it explains there.
Told = tuple[Finding, Sequence[str], Sequence[str]]


def finding(
    name: str,
    severity: Severity,
    message: str,
    nodes: Sequence[str],
    evidence: Sequence[str],
    fix: str,
    line: Line | None = None,
) -> Finding:
    return Finding(
        f"verify/{name}",
        name,
        severity,
        message,
        file=line.file if line else "",
        line=line.number if line else 0,
        host=fold(nodes),
        evidence=tuple(dict.fromkeys(evidence)),
        fix=fix,
    )
