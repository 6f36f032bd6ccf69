"""`slurmwright nccl tune` as a person calls it: a Slurm that only pretends, the stand-in for nccl-tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slurmwright.cli.nccl import nccl
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.model.load import load_cluster
from slurmwright.nccl.journal import Journal
from slurmwright.nccl.standin.stand_in import Planted

from .pretended import Pretended, plant

CLUSTER = """\
# Ours.
name: b
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes: [{hosts: "gpu[001-004]", type: dgx-h100}]   # in one rack
fabric: {kind: roce, rate_gbps: 400, rails: 8}
nccl:
  traffic_class: 106
partitions: [{name: train, nodes: all, default: true}]
"""
NODES = [f"gpu{at:03}" for at in range(1, 5)]
BEST = Planted(
    effects={
        ("NCCL_IB_QPS_PER_CONNECTION", "2"): 1.04,
        ("NCCL_IB_QPS_PER_CONNECTION", "4"): 1.2,
        ("NCCL_BUFFSIZE", "8388608"): 1.06,
    }
)
_DRIVER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from nccl.pretended import Pretended
from click.testing import CliRunner
from slurmwright.cli.nccl import nccl
from slurmwright.verify import ways
found = Pretended(Path({folder!r}), {nodes!r})
ways.way = lambda *_: found
CliRunner().invoke(nccl, ["tune", "-i", {inventory!r}, "--mpi", ""], catch_exceptions=False)
"""


def call(inventory: Path, *args: str) -> Result:
    return CliRunner().invoke(
        nccl, ["tune", "-i", str(inventory), "--mpi", "", *args], catch_exceptions=False
    )


def test_the_best_setting_is_written_into_cluster_yaml_and_nothing_else_changes(
    slurm: Pretended, inventory: Path
) -> None:
    plant(slurm, inventory, BEST)
    done = call(inventory, "--format", "json")
    told = json.loads(done.stdout)
    assert done.exit_code == 1
    assert told["setting"] == {"NCCL_IB_QPS_PER_CONNECTION": "4", "NCCL_BUFFSIZE": "8388608"}
    # 1 MiB is bound by latency, so the mean of all sizes gains less than the largest.
    assert 0.15 < told["gain"] < 1.2 * 1.06 - 1
    assert told["runs"] <= 60
    tuned = load_cluster(inventory).nccl.tuned
    assert [(one.type, one.nodes, one.nccl, one.fabric) for one in tuned] == [
        ("dgx-h100", 4, "2.27.7", "roce")
    ]
    text = (inventory / "cluster.yaml").read_text(encoding="utf-8")
    assert [line for line in CLUSTER.splitlines() if line not in text.splitlines()] == []
    assert len(list((inventory / "nccl/tune-dgx-h100").glob("run-*.txt"))) == told["runs"]
    with pytest.raises(InputError, match="remove them and push that first"):
        call(inventory)


def test_without_a_gain_cluster_yaml_stays(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted(noise=0.02))
    done = call(inventory)
    assert done.exit_code == 0
    assert "nothing beats the noise" in done.stdout
    assert (inventory / "cluster.yaml").read_text(encoding="utf-8") == CLUSTER


def test_a_setting_that_hangs_is_ended_and_told(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted(hangs=[("NCCL_IB_QPS_PER_CONNECTION", "8")]))
    done = call(inventory, "--timeout", "5", "--format", "json")
    assert list(json.loads(done.stdout)["rejected"]) == ["NCCL_IB_QPS_PER_CONNECTION=8"]


def test_killed_it_goes_on_where_it_was(slurm: Pretended, inventory: Path, tmp_path: Path) -> None:
    plant(slurm, inventory, BEST)
    names = {"tests": str(Path(__file__).parents[1]), "folder": str(tmp_path / "bin"), "nodes": NODES}
    driver = _DRIVER.format(**names, inventory=str(inventory))
    child = subprocess.Popen([sys.executable, "-c", driver], start_new_session=True)
    journal = inventory / "nccl/tune-dgx-h100.journal"
    while child.poll() is None and not (journal.exists() and journal.read_text().count("setting") >= 6):
        time.sleep(0.05)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    before = journal.read_text(encoding="utf-8").count("setting")
    assert before >= 6
    steps = len(slurm.steps)
    done = call(inventory, "--format", "json")
    told = json.loads(done.stdout)
    assert told["setting"]["NCCL_IB_QPS_PER_CONNECTION"] == "4"
    # One step looks for the program; the others are what the killed search had not measured.
    # (`timeout` leads a group of its own, so the step of the last run may outlive the kill.)
    assert 0 <= len(slurm.steps) - steps - (told["runs"] - before + 1) <= 1
    assert "scancel --name=slurmwright-nccl-tune 7" in (tmp_path / "bin/other.log").read_text(
        encoding="utf-8"
    )


def test_another_node_set_or_nccl_does_not_go_on_with_old_runs(
    slurm: Pretended, inventory: Path, tmp_path: Path
) -> None:
    plant(slurm, inventory, Planted())
    journal = Journal(tmp_path / "j", {"nodes": "a"})
    journal.add({}, 1.0)
    with pytest.raises(InputError, match="nodes a, now b"):
        Journal(tmp_path / "j", {"nodes": "b"})
    assert Journal(tmp_path / "j", {"nodes": "b"}, fresh=True).replayed == 0


def test_a_line_cut_short_by_a_crash_is_measured_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", {"nodes": "a"})
    journal.add({}, 1.0)
    journal.add({"A": "1"}, 2.0)
    text = (tmp_path / "j").read_text(encoding="utf-8")
    (tmp_path / "j").write_text(text[:-9], encoding="utf-8")
    again = Journal(tmp_path / "j", {"nodes": "a"})
    assert (again.take({}), again.take({"A": "1"})) == ((True, 1.0), (False, None))


def test_nodes_that_cannot_be_measured_at_all_are_an_error(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted(wrong_nodes={"gpu001": 1}))
    with pytest.raises(SlurmwrightError, match="could not be measured without any setting"):
        call(inventory)
