"""bench through real Slurm: 64 nodes on one machine, the stand-in for nccl-tests, planted faults."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from slurmwright.catalogue.nccl_tuning import tried
from slurmwright.core.release import Release
from slurmwright.model.load import load_cluster
from slurmwright.nccl.allocation import Allocation, Place, idle_nodes
from slurmwright.nccl.bench import Asked, Bench, Rail, Report
from slurmwright.nccl.bounds import shape_of
from slurmwright.nccl.journal import Journal
from slurmwright.nccl.program import Program, find_program
from slurmwright.nccl.standin.stand_in import Planted
from slurmwright.nccl.tune import Measured
from slurmwright.nccl.tune_search import tune
from slurmwright.rehearse import processes
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.cast import cast_of
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.rehearse.scenarios import registered
from slurmwright.render import render
from slurmwright.topology.nccl_tree import compute_nics

from .slurm import STAND_IN, OnController, lay_stand_in, plant

pytestmark = pytest.mark.rehearsal

CLUSTER = load_cluster(Path(__file__).parents[2] / "inventories/dgx-h100-64n")
KIND = CLUSTER.node_types["dgx-h100"]
SHAPE = shape_of(KIND, CLUSTER.fabric)
RAILS = [Rail(nic.name, nic.gpus[0]) for nic in compute_nics(KIND)]
MODEL = {"SLURMWRIGHT_STANDIN": "/opt/nccl-tests/model.conf"}


@pytest.fixture(scope="module")
def machine(slurm_root: Callable[[str], Path]) -> Iterator[Machine]:
    """All 64 nodes of the example are up; every test of this file shares them."""
    with ExitStack() as stack:
        expected = expected_nodes(CLUSTER, {})
        bundle, _ = adapt(render(CLUSTER, {}), Release.parse("24.11"), expected)
        started = Machine(
            stack.enter_context(Sandbox()), SlurmRoot(slurm_root("24.11")), cast_of(bundle, expected)
        )
        started.build()
        started.start_munge()
        started.start_controllers()
        assert started.wait_for_controller()
        processes._let_memory_through(started)
        started.start_nodes(started.cast.compute[1:], lambda _: None)
        registered.wait_for_nodes(started, started.cast.compute, lambda _: None)
        lay_stand_in(started)
        yield started


def idle(machine: Machine) -> tuple[str, ...]:
    """The idle nodes, when no job is left: a job completes for a while after it was cancelled."""
    end = time.monotonic() + 120
    while machine.ctl("squeue", "-h").out.strip() and time.monotonic() < end:
        time.sleep(0.5)
    hosts = [host for group in CLUSTER.nodes for host in group.hosts]
    return idle_nodes(OnController(machine), hosts)[0]


def measured(machine: Machine, planted: Planted, asked: Asked) -> Report:
    plant(machine, SHAPE, [rail.name for rail in RAILS], planted)
    runner = OnController(machine)
    free = idle(machine)
    assert len(free) == 64
    with Allocation(runner, free, 8, Place("train"), 15, "bench") as held:
        path = find_program(held, "all_reduce")
        program = Program(path, "all_reduce", 8, 1, "none", "", MODEL, 90)
        return Bench(held, program, SHAPE, RAILS, asked).report("infiniband", {})


def test_the_planted_slow_node_is_found_among_64_and_the_nodes_are_given_back(machine: Machine) -> None:
    report = measured(machine, Planted({"gpu017": 0.5}), Asked(("64M", "1G"), rails="never"))
    assert report.whole.traps == ()
    assert report.whole.output.ranks[-1].number == 511
    assert report.whole.ratio == pytest.approx(0.5, abs=0.05)
    assert report.found is not None
    assert set(report.found.slow) == {"gpu017"}
    assert report.causes[0].where == "node"
    assert len(idle(machine)) == 64


def test_the_planted_slow_rail_is_found(machine: Machine) -> None:
    report = measured(machine, Planted(slow_rails={"mlx5_5": 0.4}), Asked(("1G", "1G"), search=False))
    assert report.slow_rails == ("mlx5_5",)
    assert len(report.rails) == 8
    assert report.causes[0].where == "rail"


def test_the_planted_best_setting_is_found_over_real_steps(machine: Machine, tmp_path: Path) -> None:
    effects = {("NCCL_IB_QPS_PER_CONNECTION", "4"): 1.3, ("NCCL_IB_QPS_PER_CONNECTION", "2"): 1.1}
    plant(machine, SHAPE, [rail.name for rail in RAILS], Planted(effects=effects))
    with Allocation(OnController(machine), idle(machine)[:4], 8, Place("train"), 15, "tune") as held:
        program = Program(STAND_IN, "all_reduce", 8, 1, "none", "", MODEL, 60)
        runs = Measured(held, program, Journal(tmp_path / "j", {}), tmp_path / "raw", lambda _: None)
        name = "NCCL_IB_QPS_PER_CONNECTION"
        better = tune({name: tried("roce")[name]}, runs, 24, 1)
    assert better.setting == {"NCCL_IB_QPS_PER_CONNECTION": "4"}
    assert runs.nccl == "2.27.7"
