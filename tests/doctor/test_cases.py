"""Every recorded problem that a node or a job shows is found, at its severity and in its words; no other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from slurmwright.core.finding import Finding, Severity
from slurmwright.doctor.judge import judge
from slurmwright.doctor.reading import read_hosts

_RANK = {severity.value: rank for rank, severity in enumerate(reversed(Severity))}


@cache
def cases(folder: Path) -> dict[str, dict[str, Any]]:
    raw = yaml.safe_load((folder / "cases" / "cases.yaml").read_text(encoding="utf-8"))
    return {case["id"]: case for case in raw if case["kind"] in ("N", "J")}


@pytest.fixture
def judged(field_data: Path, tmp_path: Path) -> Callable[[str], tuple[Finding, ...]]:
    def judge_case(name: str) -> tuple[Finding, ...]:
        folder = tmp_path / name
        for file, text in cases(field_data)[name]["input"].items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return judge(read_hosts(folder))

    return judge_case


def test_every_case_gives_its_finding_and_no_other(
    field_data: Path, judged: Callable[[str], tuple[Finding, ...]]
) -> None:
    wrong: dict[str, object] = {}
    for name, case in cases(field_data).items():
        found, expected = judged(name), case["expected"]
        if expected["severity"] == "none":
            if found:
                wrong[name] = found
            continue
        hits = [
            one
            for one in found
            if _RANK[one.severity.value] >= _RANK[expected["severity"]]
            and all(word in f"{one.message} {one.fix}" for word in expected["match"])
            and any(word in one.message for word in expected["match"])
        ]
        if len(found) != 1 or hits != list(found):
            wrong[name] = (expected, found)
    assert wrong == {}


def test_there_are_all_of_them(field_data: Path) -> None:
    assert len(cases(field_data)) >= 49
