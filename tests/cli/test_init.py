"""`slurmwright init`: writes one file that loads, or nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slurmwright.model.load import load_cluster
from slurmwright.render import render

ANSWERS = ["--name", "pod1", "--type", "dgx-h100", "--hosts", "gpu[001-064]", "--release", "24.11"]


def init(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slurmwright.cli.main", "init", str(folder), *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "NO_COLOR": "1"}, timeout=60
    )


def test_a_new_folder_gets_a_cluster_yaml_that_loads(tmp_path: Path) -> None:
    done = init(tmp_path / "new", *ANSWERS)
    assert (done.returncode, done.stderr) == (0, "")
    assert load_cluster(tmp_path / "new").name == "pod1"
    assert f"slurmwright render -i {tmp_path / 'new'}" in done.stdout


def test_what_was_written_renders_at_once(tmp_path: Path) -> None:
    assert init(tmp_path / "new", *ANSWERS).returncode == 0
    assert len(render(load_cluster(tmp_path / "new"), {}).files) >= 3


def test_an_existing_file_is_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text("mine")
    done = init(tmp_path, *ANSWERS)
    assert done.returncode == 2
    assert "exists already and is left as it is" in done.stderr
    assert (tmp_path / "cluster.yaml").read_text() == "mine"


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        (
            "--type",
            "dgx-h1000",
            "slurmwright: --type: node type 'dgx-h1000' is not known; did you mean 'dgx-h100'?",
        ),
        ("--name", "../x", "slurmwright: --name: name '../x' is no cluster name"),
        ("--hosts", "gpu[1-", "slurmwright: --hosts: 'gpu[1-' is not a host range"),
        ("--release", "24.12", "slurmwright: --release: Slurm release '24.12' is not known"),
        (
            "--type",
            "hgx-b300-8gpu-oem",
            "slurmwright: --type: node type 'hgx-b300-8gpu-oem': memory not known",
        ),
        (
            "--type",
            "mi300x-8gpu",
            "slurmwright: --type: node type 'mi300x-8gpu': AMD GPUs are listed but not",
        ),
    ],
)
def test_a_bad_answer_is_one_line_and_nothing_is_written(
    tmp_path: Path, option: str, value: str, words: str
) -> None:
    answers = ANSWERS.copy()
    answers[answers.index(option) + 1] = value
    done = init(tmp_path / "new", *answers)
    assert done.returncode == 2
    assert done.stderr.startswith(words)
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "new").exists()
