"""Every recorded field problem that files alone show is found, at its severity and in its words; clean ones
are clean."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from slurmwright.core.finding import Finding, Severity
from slurmwright.rules.lint import lint
from slurmwright.rules.reading import read_path

_RANK = {severity.value: rank for rank, severity in enumerate(reversed(Severity))}
#: Findings beside the expected one that are true of the same files.
ALSO = {
    "gres-09": {"GR014"},  # gpu:8:1 is the third of its three faults
    "gres-20": {"GR006"},  # slurm.conf and gres.conf mix types, each for itself
    "cg-07": {"OP004"},  # CgroupAutomount is defunct
    "cfg-09": {"TO005"},  # the nodes of the missing switch are in no switch
    "cg-10": {"CG001"},  # without the mistyped key nothing is confined
    "ctr-14": {"CT001"},  # the file sets no ENROOT_RUNTIME_PATH
}


@cache
def cases(folder: Path) -> dict[str, dict[str, Any]]:
    raw = yaml.safe_load((folder / "cases" / "cases.yaml").read_text(encoding="utf-8"))
    return {case["id"]: case for case in raw if case["kind"] == "S"}


@pytest.fixture
def judged(field_data: Path, tmp_path: Path) -> Callable[[str], list[Finding]]:
    def judge(name: str) -> list[Finding]:
        case, folder = cases(field_data)[name], tmp_path / name
        for file, text in case["input"].items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return [one.finding for one in lint(read_path(folder), case.get("slurm_version"))]

    return judge


def fits(finding: Finding, expected: dict[str, Any]) -> bool:
    severe = _RANK[finding.severity.value] >= _RANK[expected["severity"]]
    return severe and any(word in finding.message for word in expected["match"])


def test_every_case_is_judged_as_expected(field_data: Path, judged: Callable[[str], list[Finding]]) -> None:
    wrong: dict[str, object] = {}
    for name, case in cases(field_data).items():
        found, expected = judged(name), case["expected"]
        alarms = [finding for finding in found if finding.severity is not Severity.INFO]
        if expected["severity"] == "none":
            if alarms:
                wrong[name] = alarms
            continue
        hits = [finding for finding in found if fits(finding, expected)]
        told = "\n".join(finding.message for finding in hits)
        lost = [word for word in expected["match"] if word not in told]
        rules = {finding.rule for finding in hits} | ALSO.get(name, set())
        false = [finding for finding in alarms if finding.rule not in rules]
        if lost or false:
            wrong[name] = (lost, false)
    assert wrong == {}


def test_there_are_all_of_them(field_data: Path) -> None:
    assert len(cases(field_data)) >= 55
