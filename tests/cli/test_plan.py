"""`slurmwright plan` from the outside: its sides, its forms, its exit codes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "inventories" / "lab-1node"


def slurmwright(*words: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slurmwright.cli.main", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    folder = tmp_path / "lab"
    shutil.copytree(EXAMPLE, folder)
    return folder


def edit(inventory: Path) -> None:
    file = inventory / "cluster.yaml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text + "\noverrides:\n  slurm.conf: {KillWait: 60}\n", encoding="utf-8")


def test_nothing_to_do_is_exit_0(inventory: Path) -> None:
    done = slurmwright("plan", "-i", inventory)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("nothing to do\n")


def test_a_change_is_exit_1_and_ends_in_the_line_to_quote(inventory: Path) -> None:
    edit(inventory)
    done = slurmwright("plan", "-i", inventory)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "slurm.conf"
    assert lines[1] == "  + KillWait: 60"
    assert "hosts contacted" in lines[-2]
    assert lines[-1].endswith("1 hosts contacted")


def test_json_is_the_plan_and_output_writes_the_same(inventory: Path, tmp_path: Path) -> None:
    edit(inventory)
    done = slurmwright("plan", "-i", inventory, "--format", "json", "-o", tmp_path / "plan.json")
    document = json.loads(done.stdout)
    assert document["format"] == "slurmwright/plan/1"
    assert [change["subject"] for change in document["changes"]] == ["KillWait"]
    assert json.loads((tmp_path / "plan.json").read_text(encoding="utf-8")) == document


def test_an_edited_bundle_is_compared_as_it_is_and_named(inventory: Path) -> None:
    file = inventory / "rendered/etc/slurm/slurm.conf"
    file.write_text(file.read_text(encoding="utf-8") + "KillWait=99\n", encoding="utf-8")
    done = slurmwright("plan", "-i", inventory)
    assert done.returncode == 1
    assert "  - KillWait: 99" in done.stdout
    assert "etc/slurm/slurm.conf was edited" in done.stderr


def test_a_commit_is_rendered_as_it_was(inventory: Path) -> None:
    def git(*words: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", inventory, *who, *words], check=True, capture_output=True)

    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    edit(inventory)
    done = slurmwright("plan", "-i", inventory, "--against-git", "HEAD")
    assert done.returncode == 1
    assert "  + KillWait: 60" in done.stdout
    assert slurmwright("plan", "-i", inventory / "cluster.yaml", "--against-git", "HEAD").returncode == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--against-git", "nosuch"), "git has no inventory of revision 'nosuch'"),
        (("--against-git", "--help"), "is no revision of git"),
        (("--against", "/nonexistent"), "is missing; expected a folder that `slurmwright render` wrote"),
        (("--against", "x", "--against-git", "y"), "exclude each other"),
    ],
)
def test_what_cannot_be_compared_is_exit_2(inventory: Path, words: tuple[str, ...], message: str) -> None:
    done = slurmwright("plan", "-i", inventory, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_plan_that_was_edited_is_not_rehearsed(inventory: Path, tmp_path: Path) -> None:
    edit(inventory)
    path = tmp_path / "plan.json"
    slurmwright("plan", "-i", inventory, "-o", path)
    path.write_text(path.read_text(encoding="utf-8").replace("KillWait", "MinJobAge", 1), encoding="utf-8")
    done = slurmwright("rehearse", "-i", inventory, "--plan", path)
    assert done.returncode == 2
    assert "make the plan again" in done.stderr


def test_a_plan_is_rehearsed_by_itself(inventory: Path) -> None:
    done = slurmwright("rehearse", "-i", inventory, "--plan", "p.json", "--keep")
    assert done.returncode == 2
    assert "--plan goes with" in done.stderr
