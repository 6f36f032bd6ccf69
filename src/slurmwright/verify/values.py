"""What a verification hands back: checks with evidence and findings, as one JSON document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slurmwright.core.finding import Finding, exit_code
from slurmwright.core.hosts import fold

#: The check that needs no more than an answer of slurmctld.
IN_SERVICE = "in-service"
FORMAT = "slurmwright/verify/1"


@dataclass(frozen=True, order=True)
class Point:
    """One thing that was looked at on one node. `fault` is "" where it is right; `skipped` says why nothing
    was seen."""

    check: str
    node: str
    fault: str = ""
    skipped: str = ""


@dataclass(frozen=True)
class Check:
    """One check on the nodes where it had one outcome. `passed` is None where it could not be tried."""

    name: str
    nodes: str
    passed: bool | None
    evidence: tuple[str, ...] = ()
    skipped: str = ""

    def as_json(self) -> dict[str, object]:
        document: dict[str, object] = {"name": self.name, "nodes": self.nodes, "passed": self.passed}
        return {**document, "skipped": self.skipped, "evidence": list(self.evidence)}


@dataclass(frozen=True)
class Report:
    """One finished verification. `launches` counts the sruns, sallocs and sbatches that it took."""

    cluster: str
    checks: tuple[Check, ...]
    findings: tuple[Finding, ...]
    launches: int = 0
    seconds: float = 0.0

    @property
    def exit_code(self) -> int:
        """0: clean; 1: a finding or a failed check; 2: nothing but slurmctld could be asked."""
        if not any(check.passed is not None for check in self.checks if check.name != IN_SERVICE):
            return 1 if exit_code(self.findings) else 2
        return int(any(check.passed is False for check in self.checks) or exit_code(self.findings))

    def as_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "cluster": self.cluster,
            "launches": self.launches,
            "seconds": round(self.seconds, 1),
            "checks": [check.as_json() for check in self.checks],
            "findings": [finding.as_json() for finding in self.findings],
        }


def checks_of(points: Iterable[Point], good: Mapping[str, str]) -> tuple[Check, ...]:
    """Points to checks in order of their first point: what failed, what passed, what was not checked, each
    with its nodes. `good` has for each check the words that are true where it passed."""
    by_check: dict[str, list[Point]] = {}
    for point in points:
        by_check.setdefault(point.check, []).append(point)
    return tuple(check for name, rows in by_check.items() for check in _outcomes(name, rows, good))


def _outcomes(name: str, rows: list[Point], good: Mapping[str, str]) -> Iterable[Check]:
    bad = {point.node for point in rows if point.fault}
    seen = {point.node for point in rows if not point.fault and not point.skipped} - bad
    blind = {point.node: point.skipped for point in rows if point.skipped and point.node not in bad | seen}
    if bad:
        lines = _by_text((point.fault, point.node) for point in rows if point.fault)
        yield Check(name, fold(bad), False, lines)
    if seen:
        yield Check(name, fold(seen), True, (good.get(name, "as expected"),))
    reasons: dict[str, list[str]] = {}
    for node, why in blind.items():
        reasons.setdefault(why, []).append(node)
    for why, nodes in reasons.items():
        yield Check(name, fold(nodes), None, (), why)


def _by_text(rows: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """(text, node) → one line for each text with its nodes, folded."""
    nodes: dict[str, set[str]] = {}
    for text, node in rows:
        nodes.setdefault(text, set()).add(node)
    return tuple(f"{fold(names)}: {text}" for text, names in nodes.items())
