"""`slurmwright discover --parse`: JSON for programs, exit code 2 and the place where text is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slurmwright.cli import main

MATRIX = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-3\nGPU1\tNV4\t X \t4-7\n"


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["slurmwright", *arguments])
    try:
        main.run()
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def test_a_matrix_is_printed_as_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.txt"
    file.write_text(MATRIX)
    assert _run(monkeypatch, "discover", "--parse", "nvidia-smi-topo", str(file), "--format", "json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "gpus": [
            {"name": "GPU0", "cpu_affinity": "0-3", "numa": None, "gpu_numa": None},
            {"name": "GPU1", "cpu_affinity": "4-7", "numa": None, "gpu_numa": None},
        ],
        "nics": [],
        "links": {"GPU0": {"GPU1": "NV4"}, "GPU1": {"GPU0": "NV4"}},
    }


def test_a_refused_file_is_exit_code_2_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "m.txt"
    file.write_text(MATRIX.replace("NV4\t X ", "NV2\t X "))
    assert _run(monkeypatch, "discover", "--parse", "nvidia-smi-topo", str(file)) == 2
    assert f"{file}:2:10: GPU0 to GPU1 is NV4 but back it is NV2" in capsys.readouterr().err


def test_a_kind_that_is_none_is_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, "discover", "--parse", "dmidecode", str(tmp_path)) == 2
    assert "ibdev2netdev" in capsys.readouterr().err


def test_a_bundle_is_replayed_into_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bundle/n1").mkdir(parents=True)
    (tmp_path / "bundle/n1/meminfo.txt").write_text("MemTotal:  1048576 kB\n")
    (tmp_path / "bundle/n2").mkdir()
    (tmp_path / "bundle/n2/lscpu.txt").write_text("command not found\n")
    bundle = ["--from", str(tmp_path / "bundle"), "--bundle", str(tmp_path / "copy")]
    assert _run(monkeypatch, "discover", "-i", str(tmp_path), *bundle) == 1
    assert (tmp_path / "facts/n1.yaml").read_text() == (
        "format: slurmwright/facts/1\nhost: n1\nmemory: {real_memory_mb: 1024}\n"
    )
    assert (tmp_path / "copy/n1/meminfo.txt").read_text() == "MemTotal:  1048576 kB\n"
    out = capsys.readouterr().out
    assert "read 1 hosts, 1 facts files changed, 1 hosts failed" in out
    assert "n2: nothing of its hardware could be read" in out


def test_a_draft_is_printed_from_a_bundle_without_touching_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "n1").mkdir()
    (tmp_path / "n1/numa.txt").write_text("node=0 cpus=0-7 package=0\nsiblings=0\n")
    assert _run(monkeypatch, "discover", "--from", str(tmp_path), "--draft") == 0
    assert 'hosts: "n1"' in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["n1"]
