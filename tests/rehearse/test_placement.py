"""Which jobs the verdict `placement` tries, and that a job across two switches, or a lost one, fails it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from slurmwright.rehearse.expect import ExpectedUnit
from slurmwright.rehearse.scenarios import placement
from slurmwright.rehearse.scenarios.placement import outside, trials

Recorded = Callable[[str], Any]


def unit(name: str, hosts: tuple[str, ...], weight: int = 1, fits: int = 0) -> ExpectedUnit:
    return ExpectedUnit(name, "leaf switch", hosts, fits or len(hosts), weight)


ONE, TWO = unit("rack1", ("gpu001", "gpu002")), unit("rack2", ("gpu003", "gpu004"))
ALL = ("gpu001", "gpu002", "gpu003", "gpu004")


def job(number: int, nodes: str, state: str = "RUNNING") -> str:
    share = f"Nodes={nodes} CPU_IDs=0-223 Mem=1 GRES= " if state == "RUNNING" else ""
    return f"JobId={number} JobState={state} Reason=None {share}MinCPUsNode=1\n"


@pytest.fixture
def racks(recorded: Recorded) -> Any:
    """The recorded machine with one partition of all nodes; job 1 holds gpu001."""
    machine = recorded("24.11")
    machine.partitions = "PartitionName=train Default=YES Nodes=gpu[001-004] State=UP\n"
    machine.jobs = job(1, "gpu001")
    return machine


def test_one_node_of_the_first_unit_is_held_and_the_others_are_tried() -> None:
    (trial,) = trials({"train": ALL}, (ONE, TWO))
    assert (trial.held, trial.tried, trial.others) == (("gpu001",), (TWO,), ())


def test_a_single_unit_is_tried_whole() -> None:
    (trial,) = trials({"train": ALL}, (ONE,))
    assert (trial.held, trial.tried, trial.others) == ((), (ONE,), ("gpu003", "gpu004"))


def test_a_unit_is_tried_in_the_part_that_a_partition_reaches() -> None:
    (trial,) = trials({"odd": ("gpu001", "gpu003", "gpu004")}, (ONE, TWO))
    assert trial.tried == (TWO,)


def test_a_second_partition_of_the_same_nodes_is_not_tried_again() -> None:
    found = list(trials({"train": ALL, "all": ALL, "two": TWO.hosts}, (ONE, TWO)))
    assert [trial.partition for trial in found] == ["train"]


def test_nodes_given_out_before_others_are_tried_by_themselves() -> None:
    heavy = unit("rack2", TWO.hosts, weight=5)
    found = [(trial.units, trial.others) for trial in trials({"train": ALL}, (ONE, heavy))]
    assert found == [((ONE,), TWO.hosts), ((heavy,), ONE.hosts)]


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        (("gpu003", "gpu004"), ""),
        (("gpu002", "gpu003"), "rack1 gpu002, rack2 gpu003"),
        (("gpu009",), "gpu009"),
        (("gpu003", "gpu009"), "rack2 gpu003"),
    ],
)
def test_where_a_job_lies(nodes: tuple[str, ...], words: str) -> None:
    assert outside(nodes, (ONE, TWO)) == words


def test_a_job_within_one_switch_passes(racks: Any) -> None:
    racks.jobs += job(2, "gpu[003-004]")
    verdict = placement.judge(racks, (ONE, TWO))
    assert verdict.passed
    assert verdict.evidence == (
        "partition train: 1 job, each within one leaf switch while gpu001 of rack1 was held",
        "leaf switch rack2: gpu[003-004]",
    )


def test_a_job_across_two_switches_fails(racks: Any) -> None:
    racks.jobs += job(2, "gpu[002-003]")
    verdict = placement.judge(racks, (ONE, TWO))
    assert verdict.failed
    assert verdict.evidence == (
        "partition train: a job of 2 nodes runs on gpu[002-003], not within one leaf switch: "
        "rack1 gpu002, rack2 gpu003",
    )


def test_a_job_that_waits_fails(racks: Any) -> None:
    racks.jobs += job(2, "", "PENDING")
    assert placement.judge(racks, (ONE, TWO)).evidence == (
        "partition train: a job of 2 nodes does not start: PENDING, None",
    )


def test_a_job_that_is_gone_fails(racks: Any) -> None:
    verdict = placement.judge(racks, (ONE, TWO))
    assert verdict.failed
    assert verdict.evidence == ("partition train: a job of 2 nodes is gone from slurmctld's list",)


def test_without_a_topology_nothing_is_tried(racks: Any) -> None:
    assert placement.judge(racks, ()).passed is None
    assert racks.asked == []


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("MaxNodes=1", "takes jobs of at most 1 nodes (MaxNodes)"),
        ("MinNodes=2", "takes no job of one node (MinNodes=2)"),
    ],
)
def test_a_partition_whose_own_rules_forbid_such_jobs_is_not_tried(racks: Any, rule: str, words: str) -> None:
    racks.partitions = racks.partitions.replace("State=UP", f"{rule} State=UP")
    verdict = placement.judge(racks, (ONE, TWO))
    assert (verdict.passed, verdict.skipped) == (None, f"partition train: not tried: it {words}")
    assert not [argv for argv in racks.asked if argv[0] == "sbatch"]
