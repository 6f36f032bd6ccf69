"""`slurmwright facts check`: exit codes and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.cli.facts import facts
from slurmwright.core.errors import InputError

CLUSTER = """\
name: pod1
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes:
  - {hosts: "gpu[1-3]", type: dgx-h100}
partitions:
  - {name: train, nodes: all, default: true}
"""


def _host(folder: Path, host: str, memory: int) -> None:
    (folder / "facts").mkdir(exist_ok=True)
    (folder / f"facts/{host}.yaml").write_text(
        f"format: slurmwright/facts/1\nhost: {host}\nmemory: {{real_memory_mb: {memory}}}\n"
    )


def test_an_outlier_is_exit_code_1_and_named_in_json(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    for host, memory in (("gpu1", 2063000), ("gpu2", 2063001), ("gpu3", 1900000)):
        _host(tmp_path, host, memory)
    done = CliRunner().invoke(facts, ["check", "-i", str(tmp_path), "--format", "json"])
    found = json.loads(done.stdout)["findings"]
    assert (done.exit_code, [one["host"] for one in found]) == (1, ["gpu3"])


def test_hosts_that_are_alike_are_exit_code_0(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    for host in ("gpu1", "gpu2", "gpu3"):
        _host(tmp_path, host, 2063000)
    assert CliRunner().invoke(facts, ["check", "-i", str(tmp_path)]).exit_code == 0


def test_no_facts_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    done = CliRunner().invoke(facts, ["check", "-i", str(tmp_path)])
    with pytest.raises(InputError, match="slurmwright discover -i DIR"):
        raise done.exception or AssertionError
