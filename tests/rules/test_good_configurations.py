"""Correct configurations, ours and others', have nothing of warning or above: a false alarm is a defect."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from slurmwright.core.finding import Finding, Severity
from slurmwright.rules.lint import lint
from slurmwright.rules.reading import read_path

ROOT = Path(__file__).parents[2]
CONFIGURATIONS = ROOT / "tests" / "data" / "configurations"
INDEX = yaml.safe_load((CONFIGURATIONS / "index.yaml").read_text(encoding="utf-8"))
EXAMPLES = sorted(path.parent for path in (ROOT / "inventories").glob("*/cluster.yaml"))


def alarms(path: Path, release: str | None = None) -> list[Finding]:
    found = [one.finding for one in lint(read_path(path), release)]
    return [finding for finding in found if finding.severity is not Severity.INFO]


@pytest.mark.parametrize("name", INDEX)
def test_a_correct_configuration_of_others(name: str) -> None:
    assert alarms(CONFIGURATIONS / name, INDEX[name]["release"]) == []


def test_every_folder_has_its_release() -> None:
    assert {path.name for path in CONFIGURATIONS.iterdir() if path.is_dir()} == set(INDEX)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_our_own_examples_rendered_on_the_fly(example: Path) -> None:
    assert alarms(example) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_our_own_examples_as_bundles(example: Path) -> None:
    assert alarms(example / "rendered") == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_our_own_examples_as_the_folder_of_a_host(example: Path) -> None:
    bundle = yaml.safe_load((example / "rendered" / "bundle.json").read_text(encoding="utf-8"))
    assert alarms(example / "rendered" / "etc" / "slurm", bundle["release"]) == []
