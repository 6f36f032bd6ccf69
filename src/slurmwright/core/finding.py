"""One `Finding` type for lint, doctor, rehearse and verify, so there is one report and one exit-code rule."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field


class Severity(str, enum.Enum):
    """How bad: `critical` is isolation or data lost in silence; warning and above give exit code 1."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Finding:
    """One fault, with its evidence and the line to paste. `line` counts from 1; 0 is the whole file."""

    rule: str
    name: str
    severity: Severity
    message: str
    file: str = ""
    line: int = 0
    host: str = ""
    evidence: tuple[str, ...] = field(default=())
    fix: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "rule": self.rule,
            "name": self.name,
            "severity": self.severity.value,
            "message": self.message,
            "file": self.file,
            "line": self.line,
            "host": self.host,
            "evidence": list(self.evidence),
            "fix": self.fix,
        }


def exit_code(findings: Iterable[Finding]) -> int:
    """0 when nothing of warning or above was found, else 1."""
    return int(any(f.severity is not Severity.INFO for f in findings))
