"""Turns findings into text for a person, and into JSON, JUnit and SARIF for programs.

The why of a finding is its rule's; it is looked up by the caller, so that findings of any origin can be
shown.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from slurmwright import __version__
from slurmwright.catalogue.findings import FindingKind
from slurmwright.core.finding import Finding, Severity
from slurmwright.rules.rule import Rule

FORMAT = "slurmwright/findings/1"
FORMS = ("text", "json", "junit", "sarif")

_STYLES = {"critical": "bold red", "error": "red", "warning": "yellow", "info": "dim"}
_LEVELS = {"critical": "error", "error": "error", "warning": "warning", "info": "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"

Rules = Mapping[str, Rule] | Mapping[str, FindingKind]


def findings_json(findings: Sequence[Finding]) -> dict[str, Any]:
    """The document that other programs read."""
    return {"format": FORMAT, "findings": [finding.as_json() for finding in findings]}


def draw_findings(findings: Sequence[Finding], rules: Rules, looked_at: str) -> RenderableType:
    """Each finding with its reason and the line to paste, the worst first; then how many there are."""
    parts: list[RenderableType] = []
    told: set[str] = set()
    for finding in findings:
        parts += [*_drawn(finding, rules.get(finding.rule.lower()), finding.rule not in told), Text()]
        told.add(finding.rule)
    parts.append(Text(_summary(findings, looked_at)))
    return Group(*parts)


def _drawn(finding: Finding, rule: Rule | FindingKind | None, with_why: bool) -> list[Text]:
    head = Text(finding.severity.value, style=_STYLES[finding.severity.value])
    head.append(f" {finding.rule} {finding.name}", style="bold")
    where = f"{finding.file}:{finding.line}" if finding.line else finding.file
    head.append("".join(f"  {part}" for part in (where, finding.host and f"on {finding.host}") if part))
    rows = [("", finding.message)]
    if rule and with_why:
        rows.append(("why", rule.why))
    rows += [("seen", line) for line in finding.evidence]
    rows += [("fix", finding.fix)] if finding.fix else []
    return [head, *(Text(f"  {label}: {text}" if label else f"  {text}") for label, text in rows)]


def _summary(findings: Sequence[Finding], looked_at: str) -> str:
    counts = [(one.value, sum(f.severity is one for f in findings)) for one in Severity]
    told = ", ".join(f"{count} {name}" for name, count in counts if count)
    return f"{looked_at}: {told or 'nothing found'}."


def junit_text(findings: Sequence[Finding], rules: Sequence[Rule]) -> str:
    """One test case for each rule; a rule fails when it found something of warning or above."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    suite = ET.Element("testsuite", name="slurmwright lint")
    failed = 0
    for rule in rules:
        case = ET.SubElement(suite, "testcase", classname=f"slurmwright.{rule.id}", name=rule.name)
        found = by_rule.get(rule.id, [])
        bad = [finding for finding in found if finding.severity is not Severity.INFO]
        if bad:
            failed += 1
            failure = ET.SubElement(case, "failure", type=bad[0].severity.value, message=bad[0].message)
            failure.text = "\n".join(map(_line, bad))
        if found and not bad:
            ET.SubElement(case, "system-out").text = "\n".join(map(_line, found))
    suite.set("tests", str(len(rules)))
    suite.set("failures", str(failed))
    suite.set("errors", "0")
    ET.indent(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(suite, encoding="unicode")


def _line(finding: Finding) -> str:
    place = (
        f"{finding.file}:{finding.line}: " if finding.line else f"{finding.file}: " if finding.file else ""
    )
    return f"{place}{finding.severity.value}: {finding.message} [{finding.fix}]"


def sarif_text(findings: Sequence[Finding], rules: Sequence[Rule]) -> str:
    """SARIF 2.1.0, as code-scanning services take it."""
    index = {rule.id: at for at, rule in enumerate(rules)}
    driver = {
        "name": "slurmwright",
        "version": __version__,
        "rules": [_sarif_rule(rule) for rule in rules],
    }
    results = [_sarif_result(finding, index.get(finding.rule)) for finding in findings]
    run = {"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.name.replace("-", " ")},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.fix}\n\n" + "\n".join(rule.references)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity.value]},
        "properties": {"severity": rule.severity.value, "scope": rule.scope.value, "releases": rule.releases},
    }


def _sarif_result(finding: Finding, at: int | None) -> dict[str, Any]:
    text = f"{finding.message}. To mend it: {finding.fix}" if finding.fix else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "level": _LEVELS[finding.severity.value],
        "message": {"text": text},
        "properties": {
            "severity": finding.severity.value,
            "host": finding.host,
            "evidence": finding.evidence,
        },
    }
    if at is not None:
        result["ruleIndex"] = at
    if finding.file:
        physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
        if finding.line:
            physical["region"] = {"startLine": finding.line}
        result["locations"] = [{"physicalLocation": physical}]
    return result


def _uri(path: str) -> str:
    pure = PurePath(path)
    if pure.is_absolute():
        return pure.as_uri()
    from urllib.parse import quote

    return quote(pure.as_posix())
