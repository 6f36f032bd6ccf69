"""`slurmwright nccl bench` as a person calls it: a Slurm that only pretends, the stand-in for nccl-tests."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result

from slurmwright.cli import nccl_place
from slurmwright.cli.nccl import nccl
from slurmwright.core.errors import InputError
from slurmwright.nccl.standin.stand_in import Planted

from .pretended import Pretended, plant

CLUSTER = """\
name: b
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes: [{hosts: "gpu[001-008]", type: dgx-h100}]
fabric: {kind: infiniband, rate_gbps: 400, rails: 8}
partitions: [{name: train, nodes: all, default: true}]
"""
NODES = [f"gpu{at:03}" for at in range(1, 9)]


def call(inventory: Path, *args: str) -> Result:
    words = ["bench", "-i", str(inventory), "--mpi", "", "--sizes", "64M,1G", *args]
    return CliRunner().invoke(nccl, words, catch_exceptions=False)


def test_a_good_cluster_is_good_and_its_result_is_kept(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted())
    done = call(inventory)
    assert done.exit_code == 0
    assert "expected 384.0" in done.stdout
    assert "(good)" in done.stdout
    kept = next((inventory / "nccl").glob("*.json"))
    document = json.loads(kept.read_text(encoding="utf-8"))
    assert (document["format"], document["nodes"]) == ("slurmwright/nccl-bench/1", "gpu[001-008]")
    assert "# Using devices" in next((inventory / "nccl").glob("*.whole.txt")).read_text(encoding="utf-8")
    assert ("scancel", "7") in slurm.asked


def test_a_slow_node_on_one_rail_is_told_with_both(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted(slow_rails={"gpu006/mlx5_9": 0.3}))
    done = call(inventory, "--format", "json")
    document = json.loads(done.stdout)
    assert done.exit_code == 1
    assert (document["slow_rails"], document["searched_rail"]) == (["mlx5_9"], "mlx5_9")
    assert list(document["slow_nodes"]) == ["gpu006"]
    assert document["causes"][0]["cause"].startswith("an adapter of this node")


def test_wrong_results_are_an_alarm_even_at_full_speed(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted(wrong_nodes={"gpu003": 12}))
    done = call(inventory, "--rails", "never", "--format", "json")
    document = json.loads(done.stdout)
    assert done.exit_code == 1
    assert document["traps"][0]["name"] == "wrong-results"
    assert set(document["slow_nodes"]) == {"gpu003"}


def test_a_later_result_is_compared_with_the_earlier_one(
    slurm: Pretended, inventory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(slurm, inventory, Planted())
    monkeypatch.setattr(nccl_place, "now", lambda: "2026-12-01T10:00:00Z")
    call(inventory)
    plant(slurm, inventory, Planted(slow_nodes=dict.fromkeys(NODES, 0.5)))
    monkeypatch.setattr(nccl_place, "now", lambda: "2026-12-02T10:00:00Z")
    done = call(inventory, "--rails", "never")
    assert "earlier, 2026-12-01T10:00:00Z: " in done.stdout
    assert "no node is slower than the others" in done.stdout
    svg = call(inventory, "--no-search", "--rails", "never", "--format", "svg").stdout
    assert len(ElementTree.fromstring(svg).findall("{http://www.w3.org/2000/svg}polyline")) == 3  # noqa: S314


def test_busy_nodes_are_left_out_and_told(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted())
    slurm.states = {"gpu002": "allocated"}
    done = call(inventory, "--format", "json")
    assert json.loads(done.stdout)["left_out"] == {"gpu002": "allocated"}
    slurm.states = dict.fromkeys(NODES, "down")
    with pytest.raises(InputError, match=r"none of gpu\[001-008\] is idle: down"):
        call(inventory)


def test_a_program_that_measures_nothing_is_no_result(slurm: Pretended, inventory: Path) -> None:
    plant(slurm, inventory, Planted())
    done = call(inventory, "--ranks", "node", "--program", "sh")
    assert done.exit_code == 2
    assert "measured: nothing that counts" in done.stdout


def test_nodes_that_are_not_there_are_an_error(slurm: Pretended, inventory: Path) -> None:
    with pytest.raises(InputError, match="'gpu100' is no node of this cluster"):
        call(inventory, "--nodes", "gpu100")
