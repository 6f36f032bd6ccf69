"""`slurmwright lint` as a person or a program calls it: forms, exit codes, --fix."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slurmwright.cli.explain import explain
from slurmwright.cli.lint import lint
from slurmwright.core.errors import InputError
from slurmwright.rules.registry import all_rules

ROOT = Path(__file__).parents[2]
KEYS = {"rule", "name", "severity", "message", "file", "line", "host", "evidence", "fix"}


def call(*args: str, text: str | None = None) -> Result:
    return CliRunner().invoke(lint, list(args), input=text, catch_exceptions=False)


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    """GPUs that are not confined, in a folder that --fix may write."""
    for name in ("slurm.conf", "gres.conf", "cgroup.conf"):
        text = (ROOT / "tests" / "rules" / "base" / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("ConstrainDevices=yes\n", ""), encoding="utf-8")
    (tmp_path / "cgroup.conf").chmod(0o640)
    return tmp_path


def test_nothing_wrong_is_zero() -> None:
    result = call(str(ROOT / "inventories" / "mixed"))
    assert result.exit_code == 0
    assert "nothing found" in result.stdout


def test_text_tells_fault_reason_and_remedy(wrong: Path) -> None:
    result = call(str(wrong))
    assert result.exit_code == 1
    for words in ("critical CG001 gpus-unconstrained", "cgroup.conf", "why: ", "fix: ConstrainDevices=yes"):
        assert words in result.stdout


def test_json_is_the_document_that_is_promised(wrong: Path) -> None:
    document = json.loads(call(str(wrong), "--format", "json").stdout)
    assert document["format"] == "slurmwright/findings/1"
    assert [set(finding) for finding in document["findings"]] == [KEYS]
    assert document["findings"][0]["severity"] == "critical"


def test_junit_has_a_test_for_each_rule(wrong: Path) -> None:
    suite = ET.fromstring(call(str(wrong), "--format", "junit").stdout)  # noqa: S314 - our own output
    assert (suite.get("failures"), suite.get("tests")) == ("1", str(len(all_rules())))
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "ConstrainDevices" in (failure.get("message") or "")


def test_sarif_names_rule_place_and_level(wrong: Path) -> None:
    document = json.loads(call(str(wrong), "--format", "sarif").stdout)
    run = document["runs"][0]
    (result,) = run["results"]
    assert (document["version"], result["ruleId"], result["level"]) == ("2.1.0", "CG001", "error")
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "CG001"
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == (wrong / "cgroup.conf").as_uri()


def test_an_info_alone_is_zero(wrong: Path) -> None:
    (wrong / "cgroup.conf").write_text(
        "ConstrainDevices=yes\nConstrainCores=yes\nConstrainRAMSpace=yes\nIgnoreSystemd=yes\n"
    )
    result = call(str(wrong))
    assert "info CG009" in result.stdout
    assert result.exit_code == 0


def test_what_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        call(str(tmp_path / "gone"))


def test_a_diff_changes_nothing(wrong: Path) -> None:
    before = (wrong / "cgroup.conf").read_text()
    result = call(str(wrong), "--diff")
    assert "+ConstrainDevices=yes" in result.stdout
    assert (wrong / "cgroup.conf").read_text() == before


def test_fix_shows_the_diff_and_asks(wrong: Path) -> None:
    before = (wrong / "cgroup.conf").read_text()
    with pytest.raises(InputError, match="nothing was written"):
        call(str(wrong), "--fix", text="n\n")
    assert (wrong / "cgroup.conf").read_text() == before
    result = call(str(wrong), "--fix", text="y\n")
    assert "+ConstrainDevices=yes" in result.stderr
    assert (wrong / "cgroup.conf").read_text() == before + "ConstrainDevices=yes\n"
    assert (wrong / "cgroup.conf").stat().st_mode & 0o777 == 0o640
    assert result.exit_code == 0


def test_fix_follows_a_link_to_the_file(wrong: Path, tmp_path: Path) -> None:
    real = tmp_path / "shared"
    real.mkdir()
    (wrong / "cgroup.conf").rename(real / "cgroup.conf")
    (wrong / "cgroup.conf").symlink_to(real / "cgroup.conf")
    call(str(wrong / "slurm.conf"), "--diff")
    call(str(wrong), "--fix", "--yes")
    assert (wrong / "cgroup.conf").is_symlink()
    assert "ConstrainDevices=yes" in (real / "cgroup.conf").read_text()


def test_explain_takes_rules_by_id_and_by_name() -> None:
    by_id = CliRunner().invoke(explain, ["CG001"], catch_exceptions=False).stdout
    assert by_id == CliRunner().invoke(explain, ["gpus-unconstrained"], catch_exceptions=False).stdout
    assert "ConstrainDevices=yes" in by_id


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_every_rule_is_explained(rule: object) -> None:
    result = CliRunner().invoke(explain, [rule.id, "--format", "json"], catch_exceptions=False)  # type: ignore[attr-defined]
    assert json.loads(result.stdout)["name"] == rule.name  # type: ignore[attr-defined]
