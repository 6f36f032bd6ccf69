"""The command `slurmwright verify` where its Slurm is a few shell scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.cli.main import main

INVENTORY = Path(__file__).parents[2] / "inventories" / "dgx-h100-64n"


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands of Slurm of which only sinfo answers: every node is busy."""
    for name in ("srun", "scancel"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "sinfo").write_text(
        '#!/bin/sh\nfor n in $(seq -w 1 64); do echo "gpu0$n|mixed|up|train*|none"; done\n'
    )
    for name in ("srun", "scancel", "sinfo"):
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["verify", "-i", str(INVENTORY), *words])
    return done.exit_code, done.stdout


def test_busy_nodes_are_not_checked_and_nothing_is_verified(slurm: Path) -> None:
    code, out = run("--format", "json", "--no-ssh")
    document = json.loads(out)
    assert code == 2
    assert document["format"] == "slurmwright/verify/1"
    assert {check["skipped"] for check in document["checks"] if check["name"] == "gpus-one"} == {
        "its state is mixed"
    }


def test_junit_is_for_programs(slurm: Path) -> None:
    assert run("--format", "junit", "--no-ssh")[1].startswith("<?xml")


def test_nodes_of_another_cluster_are_refused(slurm: Path) -> None:
    done = CliRunner().invoke(main, ["verify", "-i", str(INVENTORY), "--nodes", "gpu065"])
    assert "'gpu065' is no node of this cluster" in str(done.exception)


def test_a_controller_that_does_not_answer_is_told(slurm: Path) -> None:
    (slurm / "sinfo").write_text("#!/bin/sh\necho 'slurm_load_partitions: Unable to contact' >&2\nexit 1\n")
    done = CliRunner().invoke(main, ["verify", "-i", str(INVENTORY)])
    assert "slurmctld cannot be asked for its nodes" in str(done.exception)
