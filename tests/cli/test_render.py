"""`slurmwright render`: writes the bundle as a whole, or one clear error and nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CLUSTER = """\
name: pod1
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes:
  - {hosts: "gpu[01-04]", type: dgx-a100-80gb}
partitions:
  - {name: train, nodes: all, default: true}
"""


def run(*arguments: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "slurmwright.cli.main", "render", *arguments]
    env = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200", "PYTHONHASHSEED": seed}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    return tmp_path


def tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_files_lie_beside_the_inventory_and_are_listed(inventory: Path) -> None:
    done = run("-i", str(inventory))
    assert (done.returncode, done.stderr) == (0, "")
    for name in ("slurm.conf", "gres.conf", "cgroup.conf"):
        assert f"/etc/slurm/{name}" in done.stdout
        assert (inventory / "rendered/etc/slurm" / name).is_file()


def test_assumptions_are_said_below_the_table(inventory: Path) -> None:
    lines = [line for line in run("-i", str(inventory)).stdout.splitlines() if line.startswith("assumed: ")]
    assert len(lines) == 2
    assert all("gpu[01-04]" in line and "to make it sure: " in line for line in lines)


def test_json_is_the_index_of_the_bundle(inventory: Path, tmp_path: Path) -> None:
    done = run("-i", str(inventory / "cluster.yaml"), "-o", str(tmp_path / "out"), "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (tmp_path / "out/bundle.json").read_text()
    document = json.loads(done.stdout)
    assert (document["format"], document["cluster"], document["release"]) == (
        "slurmwright/bundle/1",
        "pod1",
        "24.11",
    )
    for file in document["files"]:
        assert sorted(file) == ["group", "hosts", "mode", "owner", "path", "sha256", "source"]
        assert (tmp_path / "out" / file["source"]).is_file()


def test_two_runs_write_the_same_bytes(inventory: Path, tmp_path: Path) -> None:
    for seed in ("1", "2"):
        assert run("-i", str(inventory), "-o", str(tmp_path / seed), seed=seed).returncode == 0
    assert tree(tmp_path / "1") == tree(tmp_path / "2")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("dgx-a100-80gb", "dgx-a100-8gb", "cluster.yaml:5:"),
        ("dgx-a100-80gb", "mi300x-8gpu", "AMD GPUs are listed but not rendered"),
        ("dgx-a100-80gb", "gcp-a3-highgpu-8g", "NUMA nodes of its GPUs not known"),
        ("24.11", "27.05", "is not known"),
    ],
)
def test_a_mistake_leaves_the_old_output_whole(inventory: Path, old: str, new: str, words: str) -> None:
    assert run("-i", str(inventory)).returncode == 0
    before = tree(inventory / "rendered")
    (inventory / "cluster.yaml").write_text(CLUSTER.replace(old, new))
    done = run("-i", str(inventory))
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert tree(inventory / "rendered") == before


def test_a_folder_with_other_files_is_left_alone(inventory: Path, tmp_path: Path) -> None:
    other = tmp_path / "home"
    other.mkdir()
    (other / "thesis.txt").write_text("mine")
    done = run("-i", str(inventory), "-o", str(other))
    assert done.returncode == 2
    assert tree(other) == {"thesis.txt": b"mine"}


def test_facts_beside_the_inventory_are_used(inventory: Path) -> None:
    facts = inventory / "facts"
    facts.mkdir()
    (facts / "gpu02.yaml").write_text(
        "format: slurmwright/facts/1\nhost: gpu02\nmemory: {real_memory_mb: 2063900}\n"
    )
    assert run("-i", str(inventory)).returncode == 0
    text = (inventory / "rendered/etc/slurm/slurm.conf").read_text()
    assert "RealMemory=2022000" in text
    assert "assumed" not in text


def test_facts_of_a_stranger_are_refused(inventory: Path) -> None:
    facts = inventory / "facts"
    facts.mkdir()
    (facts / "gpu99.yaml").write_text("format: slurmwright/facts/1\nhost: gpu99\n")
    done = run("-i", str(inventory))
    assert done.returncode == 2
    assert "'gpu99' is no node of this cluster" in done.stderr
    assert not (inventory / "rendered").exists()
