"""What a rehearsal hands back: verdicts with evidence, what was adapted, findings, as one JSON document."""

from __future__ import annotations

from dataclasses import dataclass

from slurmwright.core.finding import Finding

FORMAT = "slurmwright/rehearsal/1"


@dataclass(frozen=True)
class Adaptation:
    """One thing that had to differ from the bundle for it to run on one machine, and why."""

    file: str
    line: int
    key: str
    old: str
    new: str
    reason: str

    def as_json(self) -> dict[str, object]:
        return {
            "file": self.file,
            "line": self.line,
            "key": self.key,
            "old": self.old,
            "new": self.new,
            "reason": self.reason,
        }


@dataclass(frozen=True)
class Verdict:
    """The outcome of one scenario; `evidence` are lines that a person can check. `passed` is None where the
    scenario could not be tried or had nothing to try: not checked is never passed. The evidence says why."""

    name: str
    passed: bool | None
    evidence: tuple[str, ...]

    @classmethod
    def not_checked(cls, name: str, *why: str) -> Verdict:
        """Nothing was tried, and why."""
        return cls(name, None, why)

    @property
    def failed(self) -> bool:
        return self.passed is False

    @property
    def skipped(self) -> str:
        """Why it was not checked; "" where it was."""
        return "; ".join(self.evidence) if self.passed is None else ""

    def as_json(self) -> dict[str, object]:
        document: dict[str, object] = {"name": self.name, "passed": self.passed}
        if self.passed is None:
            document["skipped"] = self.skipped
        return {**document, "evidence": list(self.evidence)}


@dataclass(frozen=True)
class NodeCount:
    """How many nodes the cluster has, how many registered, how many were idle at the end."""

    total: int
    registered: int
    idle: int


@dataclass(frozen=True)
class Phase:
    """A part of a rehearsal and the seconds that it took."""

    name: str
    seconds: float


@dataclass(frozen=True)
class Rehearsal:
    """One finished rehearsal. `enter` is the line that leads into it where it was kept running, or several;
    `phases` are told by an engine that takes minutes."""

    engine: str
    slurm_version: str
    nodes: NodeCount
    scenarios: tuple[Verdict, ...]
    adapted: tuple[Adaptation, ...]
    findings: tuple[Finding, ...]
    enter: str = ""
    phases: tuple[Phase, ...] = ()

    @property
    def passed(self) -> bool:
        """No scenario failed, and at least one was checked."""
        results = {verdict.passed for verdict in self.scenarios}
        return True in results and False not in results

    def as_json(self) -> dict[str, object]:
        document: dict[str, object] = {
            "format": FORMAT,
            "engine": self.engine,
            "slurm_version": self.slurm_version,
            "nodes": {
                "total": self.nodes.total,
                "registered": self.nodes.registered,
                "idle": self.nodes.idle,
            },
            "scenarios": [verdict.as_json() for verdict in self.scenarios],
            "adapted": [one.as_json() for one in self.adapted],
            "findings": [finding.as_json() for finding in self.findings],
        }
        if self.phases:
            document["phases"] = [{"name": one.name, "seconds": one.seconds} for one in self.phases]
        if self.enter:
            document["enter"] = self.enter
        return document
