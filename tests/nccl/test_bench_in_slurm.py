"""bench and tune through real Slurm: 64 nodes on one machine, the stand-in for nccl-tests, planted faults."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from math import prod
from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.catalogue.nccl_tuning import tried
from slurmwright.cli.plan import plan
from slurmwright.cli.render import render as render_command
from slurmwright.core.release import Release
from slurmwright.model.load import load_cluster
from slurmwright.nccl.allocation import Allocation, Place, idle_nodes
from slurmwright.nccl.bench import Asked, Bench, Rail, Report
from slurmwright.nccl.bounds import shape_of
from slurmwright.nccl.journal import Journal
from slurmwright.nccl.program import TORCH, Program, find_program
from slurmwright.nccl.standin.stand_in import Planted
from slurmwright.nccl.tune import Measured
from slurmwright.nccl.tune_search import tune
from slurmwright.rehearse import processes
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.cast import cast_of
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.sandbox import BASE_ENV, Sandbox
from slurmwright.rehearse.scenarios import registered
from slurmwright.render import render
from slurmwright.topology.nccl_tree import compute_nics

from .slurm import STAND_IN, Through, lay_stand_in, on_controller, plant
from .torch_at_hand import COMMANDS, has_torch, lend

pytestmark = pytest.mark.rehearsal

EXAMPLE = Path(__file__).parents[2] / "inventories/dgx-h100-64n"
CLUSTER = load_cluster(EXAMPLE)
KIND = CLUSTER.node_types["dgx-h100"]
SHAPE = shape_of(KIND, CLUSTER.fabric)
RAILS = [Rail(nic.name, nic.gpus[0]) for nic in compute_nics(KIND)]
#: What the planted settings are worth; the best takes the better value of one variable and the other's.
BEST = {
    ("NCCL_IB_QPS_PER_CONNECTION", "2"): 1.08,
    ("NCCL_IB_QPS_PER_CONNECTION", "4"): 1.3,
    ("NCCL_BUFFSIZE", "8388608"): 1.1,
}
TUNE = ["tune", "--nodes", "gpu[001-004]", "--partition", "train", "--mpi", "none", "--timeout", "90"]
_DRIVER = """
import sys
sys.path.insert(0, {tests!r})
from nccl.slurm import Through
from slurmwright.cli.nccl import nccl
from slurmwright.verify import ways
ways.way = lambda *_: Through({way!r})
nccl({args!r} + sys.argv[1:])
"""


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
        if has_torch():
            lend(started)
        started.start_munge()
        started.start_controllers()
        assert started.wait_for_controller()
        processes.let_memory_through(started)
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
    return idle_nodes(Through(on_controller(machine)), hosts)[0]


def measured(machine: Machine, planted: Planted, asked: Asked) -> Report:
    plant(machine, SHAPE, [rail.name for rail in RAILS], planted)
    runner = Through(on_controller(machine))
    free = idle(machine)
    assert len(free) == 64
    with Allocation(runner, free, 8, Place("train"), 15, "bench") as held:
        path = find_program(held, "all_reduce")
        program = Program(path, "all_reduce", 8, 1, "none", "", {}, 90)
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


def test_our_own_benchmark_really_runs_over_gloo_where_nccl_tests_is_absent(machine: Machine) -> None:
    """The stand-in answers for all_reduce only; what is measured here is the memory of this machine."""
    if not has_torch():
        pytest.skip("this machine's Python has no torch (Debian: python3-torch)")
    words = [*on_controller(machine), f"PATH={COMMANDS}:{BASE_ENV['PATH']}"]
    with Allocation(Through(words), idle(machine)[:2], 8, Place("train"), 15, "bench") as held:
        path = find_program(held, "broadcast")
        assert path == TORCH
        program = Program(path, "broadcast", 8, 2, "none", "", {}, 300)
        asked = Asked(("256K", "1M"), "1M", "never", search=False)
        whole = Bench(held, program, SHAPE, RAILS, asked).report("infiniband", {}).whole
    assert [(rank.number, rank.host) for rank in whole.output.ranks] == [
        (at, f"gpu{at // 2 + 1:03}") for at in range(4)
    ]
    assert [row.size for row in whole.output.rows] == [1 << 18, 1 << 19, 1 << 20]
    assert not any(trap.fatal for trap in whole.traps)


def test_noise_is_never_told_as_a_gain_over_real_steps(machine: Machine, tmp_path: Path) -> None:
    """Two nodes and the shortest list of variables; test_tune_search has the long ones, without Slurm."""
    plant(machine, SHAPE, [rail.name for rail in RAILS], Planted(noise=0.02))
    runner, pair = Through(on_controller(machine)), idle(machine)[:2]
    with Allocation(runner, pair, 8, Place("train"), 30, "tune") as held:
        program = Program(STAND_IN, "all_reduce", 8, 1, "none", "", {}, 60)
        for seed in range(20):
            runs = Measured(
                held, program, Journal(tmp_path / str(seed), {}), tmp_path / "raw", lambda _: None
            )
            found = tune(tried("efa"), runs, 60, seed)
            assert (found.setting, found.rejected) == ({}, {})
            assert found.noise > 0


def tune_elsewhere(machine: Machine, inventory: Path) -> subprocess.Popen[bytes]:
    """`nccl tune` as a program of its own, which can be killed; what it prints lies beside the inventory."""
    driver = _DRIVER.format(tests=str(Path(__file__).parents[1]), way=on_controller(machine), args=TUNE)
    with (inventory / "printed").open("wb") as printed:
        return subprocess.Popen(
            [sys.executable, "-c", driver, "-i", str(inventory)], stdout=printed, stderr=subprocess.STDOUT
        )


def settings_in(journal: Path) -> int:
    return journal.read_text(encoding="utf-8").count('"setting"') if journal.exists() else 0


def wait_for(what: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not what() and time.monotonic() < end:
        time.sleep(0.1)
    return what()


def gain(setting: Mapping[str, str]) -> float:
    """What the planted effects make of these."""
    return prod(BEST.get(one, 1.0) for one in setting.items())


def test_a_killed_search_goes_on_finds_the_planted_best_and_its_change_is_planned(
    machine: Machine, tmp_path: Path
) -> None:
    inventory = tmp_path / "inventory"
    inventory.mkdir()
    shutil.copy(EXAMPLE / "cluster.yaml", inventory)
    before_tune = str(tmp_path / "before")
    assert CliRunner().invoke(render_command, ["-i", str(inventory), "-o", before_tune]).exit_code == 0
    plant(machine, SHAPE, [rail.name for rail in RAILS], Planted(effects=BEST))
    idle(machine)
    journal = inventory / "nccl/tune-dgx-h100.journal"
    child = tune_elsewhere(machine, inventory)
    assert wait_for(lambda: settings_in(journal) >= 8 or child.poll() is not None, 600)
    child.kill()
    child.wait()
    before = settings_in(journal)
    assert before >= 8, (inventory / "printed").read_text(encoding="utf-8")
    left = machine.ctl("squeue", "-h", "-o", "%i %j").out.split()
    assert left[1:] == ["slurmwright-nccl-tune"]
    assert (inventory / "cluster.yaml").read_bytes() == (EXAMPLE / "cluster.yaml").read_bytes()

    again = tune_elsewhere(machine, inventory)
    assert wait_for(lambda: again.poll() is not None, 1800)
    printed = " ".join((inventory / "printed").read_text(encoding="utf-8").split())
    assert again.returncode == 1, printed
    assert f"{before} runs stand in " in printed
    assert machine.ctl("squeue", "-h", "-j", left[0]).out == ""
    told = json.loads(next((inventory / "nccl").glob("tune-*.json")).read_text(encoding="utf-8"))
    assert told["runs"] <= 60
    assert len(list((inventory / "nccl/tune-dgx-h100").glob("run-*.txt"))) == told["runs"]
    assert gain(told["setting"]) >= 0.95 * prod(sorted(BEST.values())[-2:])
    assert len(idle(machine)) == 64

    planned = CliRunner().invoke(plan, ["-i", str(inventory), "--against", before_tune, "--format", "json"])
    assert planned.exit_code == 1, planned.exception
    document = json.loads(planned.stdout)
    (change,) = document["changes"]
    assert change["file"] == "/etc/nccl.conf"
    assert {change["effects"][daemon] for daemon in ("slurmctld", "slurmd", "slurmdbd")} == {"none"}
    (file,) = [one for one in document["files"] if one["old"] != one["new"]]
    added = set(file["new"].splitlines()) - set(file["old"].splitlines())
    settings = {f"{name}={value}" for name, value in told["setting"].items()}
    assert {line for line in added if line and not line.startswith("#")} == settings
