"""`slurmwright import` as a person or a program calls it: exit codes, forms, and nothing overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slurmwright.cli.import_ import import_
from slurmwright.cli.render import render
from slurmwright.core.errors import InputError

CONFIGURATIONS = Path(__file__).parents[1] / "data/configurations"


def call(*args: object) -> Result:
    return CliRunner().invoke(import_, list(map(str, args)), catch_exceptions=False)


def test_equal_files_give_exit_0_and_an_inventory_that_renders(tmp_path: Path) -> None:
    result = call(CONFIGURATIONS / "workstations-22.05", "-o", tmp_path / "inv", "--release", "22.05")
    assert result.exit_code == 0
    assert "2 nodes, Slurm 22.05; what it renders means what the source means" in result.stdout
    rendered = CliRunner().invoke(render, ["-i", str(tmp_path / "inv")], catch_exceptions=False)
    assert rendered.exit_code == 0


def test_differences_give_exit_1_with_their_lines(tmp_path: Path) -> None:
    result = call(CONFIGURATIONS / "dgx-site-22.05", "-o", tmp_path, "--release", "22.05")
    assert result.exit_code == 1
    place = CONFIGURATIONS / "dgx-site-22.05/cgroup.conf"
    assert f"warning: {place}:4: CgroupAutomount=yes is not taken over" in result.stdout
    assert (tmp_path / "cluster.yaml").exists()


def test_what_cannot_be_imported_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no NodeName line"):
        call(CONFIGURATIONS / "kubernetes-25.05", "-o", tmp_path / "inv")
    assert not (tmp_path / "inv").exists()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("mine\n", encoding="utf-8")
    with pytest.raises(InputError, match="exists already and is left as it is"):
        call(CONFIGURATIONS / "workstations-22.05", "-o", tmp_path)
    assert (tmp_path / "cluster.yaml").read_text(encoding="utf-8") == "mine\n"


def test_programs_read_json(tmp_path: Path) -> None:
    result = call(CONFIGURATIONS / "nps4-25.11", "-o", tmp_path, "--format", "json")
    document = json.loads(result.stdout)
    assert {key: document[key] for key in ("cluster", "nodes", "release_assumed", "equal")} == {
        "cluster": "nps",
        "nodes": 4,
        "release_assumed": True,
        "equal": True,
    }
    assert [finding["name"] for finding in document["findings"]] == ["release-assumed"]


def test_the_verb_is_called_import_and_errors_give_exit_2(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "slurmwright.cli.main",
        "import",
        str(tmp_path),
        "-o",
        str(tmp_path / "i"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"slurmwright: {tmp_path}: holds no slurm.conf; expected an /etc/slurm or a copy of one\n"
    )
