"""Every rule fires where it must, is silent where it must be, and mends what it says it mends."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.rules.fixes import fixed_texts
from slurmwright.rules.lint import lint
from slurmwright.rules.reading import read_path
from slurmwright.rules.registry import find_rule
from slurmwright.rules.runner import Judged

from .case_files import Case, load_cases

ALL = load_cases()


def of_kind(*kinds: str) -> list[Case]:
    return [case for case in ALL if case.kind in kinds]


def judge(case: Case, folder: Path, only_its_rule: bool = True) -> tuple[Judged, ...]:
    rules = [find_rule(case.rule)] if only_its_rule else None
    return lint(read_path(case.lay_out(folder)), case.release, rules)


@pytest.mark.parametrize("case", of_kind("fires"), ids=lambda case: case.id)
def test_fires(case: Case, tmp_path: Path) -> None:
    found = [one.finding for one in judge(case, tmp_path)]
    assert found
    for finding in found:
        assert (finding.rule, finding.severity.value) == (
            case.rule,
            case.raw.get("severity", find_rule(case.rule).severity.value),
        )
    told = "\n".join(finding.message for finding in found)
    assert [word for word in case.raw["says"] if word not in told] == []
    if "at" in case.raw:
        wanted = case.raw["at"] if isinstance(case.raw["at"], list) else [case.raw["at"]]
        places = [f"{finding.file.removeprefix(f'{tmp_path}/')}:{finding.line}" for finding in found]
        assert sorted(places) == sorted(wanted)


@pytest.mark.parametrize("case", of_kind("silent"), ids=lambda case: case.id)
def test_is_silent(case: Case, tmp_path: Path) -> None:
    found = [one.finding for one in judge(case, tmp_path) if one.finding.severity.value != "info"]
    assert found == []


@pytest.mark.parametrize("case", of_kind("fixed"), ids=lambda case: case.id)
def test_mends(case: Case, tmp_path: Path) -> None:
    becomes = case.raw["becomes"]
    mended = fixed_texts(judge(case, tmp_path))
    texts = {Path(path).name: text for path, (_, text) in mended.items()}
    assert texts == becomes
    for name, text in becomes.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert lint(read_path(tmp_path), case.release, [find_rule(case.rule)]) == ()


@pytest.mark.parametrize("case", of_kind("fires", "fixed"), ids=lambda case: case.id)
def test_a_comment_with_a_reason_allows_it(case: Case, tmp_path: Path) -> None:
    for name, text in case.files.items():
        mark = f"# slurmwright: allow-file {find_rule(case.rule).name} because this is a test\n"
        if not name.endswith((".txt", ".log", ".yaml", ".sh", ".service", ".xml")):
            case.files[name] = mark + text
    told = [one.finding for one in judge(case, tmp_path) if one.finding.line]
    assert [finding for finding in told if Path(finding.file).suffix == ".conf"] == []
