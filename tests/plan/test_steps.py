"""The order of steps, and which hosts they reach."""

from __future__ import annotations

from dataclasses import replace

import pytest

from slurmwright.core.bundle import Bundle
from slurmwright.plan import Plan, compare

from .conftest import DROP_IN, edited, lab

ADD = ("NodeName=gpu[1-4]", "NodeName=gpu[1-5]")
REMOVE = ("NodeName=gpu[1-4]", "NodeName=gpu[1-3]")
FEWER = ("Nodes=gpu[3-4]", "Nodes=gpu3")


def plan(base: Bundle, *swaps: tuple[str, str], name: str = "slurm.conf") -> Plan:
    return compare(base, edited(base, name, *swaps))


def order(found: Plan) -> list[str]:
    return [f"{step.action} {step.daemon} {step.hosts}".replace("  ", " ").strip() for step in found.steps]


def test_a_node_is_added_by_a_reconfigure_from_23_11_on() -> None:
    found = plan(lab("23.11"), ADD)
    assert order(found) == [
        "stage ctl[1-2]",
        "confirm ctl[1-2]",
        "activate ctl[1-2]",
        "reconfigure ctl1",
        "start slurmd gpu5",
        "check ctl[1-2]",
    ]
    assert found.hosts_contacted == ("ctl1", "ctl2", "gpu5")
    assert found.drain_first == ()


def test_in_22_05_slurmctld_is_stopped_around_it_and_every_slurmd_restarts_after() -> None:
    found = plan(lab("22.05"), ADD)
    assert order(found) == [
        "stage ctl[1-2]",
        "confirm ctl[1-2]",
        "stop slurmctld ctl2,ctl1",
        "activate ctl[1-2]",
        "start slurmctld ctl1,ctl2",
        "restart slurmd gpu[1-4]",
        "start slurmd gpu5",
        "check ctl[1-2]",
    ]
    assert found.hosts_contacted == ("ctl1", "ctl2", "gpu1", "gpu2", "gpu3", "gpu4", "gpu5")


def test_a_node_that_goes_is_drained_first_and_never_resumed(base: Bundle) -> None:
    found = plan(base, REMOVE, FEWER)
    assert order(found)[0] == "drain gpu4"
    assert "stop slurmd gpu4" in order(found)
    assert not any(step.action == "resume" for step in found.steps)
    assert found.drain_first == ("gpu4",)
    assert found.hosts_contacted == ("ctl1", "ctl2", "gpu4")


def test_drained_nodes_are_resumed_last(base: Bundle) -> None:
    found = plan(base, ("CoresPerSocket=8", "CoresPerSocket=4"))
    assert (order(found)[0], order(found)[-1]) == ("drain gpu[1-4]", "resume gpu[1-4]")


def test_a_partition_that_goes_is_emptied_and_no_node_is_drained(base: Bundle) -> None:
    found = plan(base, ("PartitionName=debug Nodes=gpu[3-4]\n", ""))
    assert found.drain_first == ("PartitionName=debug",)
    assert found.steps[0].text == "set partition debug to DRAIN and wait until none of its jobs runs"
    assert found.hosts_contacted == ("ctl1", "ctl2")


def test_a_cluster_wide_option_reaches_the_controllers_alone_where_nodes_fetch_their_files(
    base: Bundle,
) -> None:
    found = plan(base, ("task/cgroup,task/affinity", "task/affinity"))
    assert found.hosts_contacted == ("ctl1", "ctl2")


def test_every_host_with_a_copy_gets_the_file_and_confirms_it() -> None:
    base = lab(holders="ctl[1-2],gpu[1-4],login1")
    found = plan(base, ("task/cgroup,task/affinity", "task/affinity"))
    assert [step.hosts for step in found.steps if step.action == "confirm"] == ["ctl[1-2],gpu[1-4],login1"]
    assert "login1" in found.hosts_contacted


def test_a_changed_node_confirms_what_it_fetched(base: Bundle) -> None:
    found = plan(base, ("Cores=0-7", "Cores=8-15"), name="gres.conf")
    check = next(step for step in found.steps if step.action == "check")
    assert "gpu[1-4] confirm" in check.text
    assert found.hosts_contacted == ("ctl1", "ctl2", "gpu1", "gpu2", "gpu3", "gpu4")


def test_a_unit_is_read_anew_before_its_daemon_restarts(base: Bundle) -> None:
    found = plan(base, ("infinity", "0"), name="slurmwright.conf")
    assert order(found)[-3:-1] == ["reload-units gpu[1-4]", "restart slurmd gpu[1-4]"]
    assert found.hosts_contacted == ("ctl1", "ctl2", "gpu1", "gpu2", "gpu3", "gpu4")


def test_slurmdbd_restarts_on_its_host(base: Bundle) -> None:
    found = plan(base, ("DbdHost=db1", "DbdHost=db1\nDebugLevel=debug"), name="slurmdbd.conf")
    assert "restart slurmdbd db1" in order(found)
    assert not any(step.daemon in ("slurmctld", "slurmd") for step in found.steps)


def test_an_unknown_option_stops_everything_slurmctld_last_to_stop_and_first_to_start(base: Bundle) -> None:
    found = order(plan(base, ("GresTypes=gpu", "GresTypes=gpu\nNoSuchKey=1")))
    daemons = [step for step in found if step.split()[0] in ("stop", "start")]
    assert daemons == [
        "stop slurmd gpu[1-4]",
        "stop slurmctld ctl2,ctl1",
        "stop slurmdbd db1",
        "start slurmdbd db1",
        "start slurmctld ctl1,ctl2",
        "start slurmd gpu[1-4]",
    ]


@pytest.mark.parametrize("release", ["22.05", "24.11", "26.05"])
def test_files_are_activated_only_after_every_host_confirmed(release: str) -> None:
    base = lab(release)
    names = [step.action for step in plan(base, ADD).steps]
    assert names.index("stage") < names.index("confirm") < names.index("activate") < names.index("check")


def test_a_host_that_leaves_is_not_sent_files(base: Bundle) -> None:
    new = edited(base, "slurm.conf", REMOVE, FEWER)
    files = tuple(replace(f, hosts="gpu[1-3]") if f.path == DROP_IN else f for f in new.files)
    found = compare(base, replace(new, files=files))
    assert [step.hosts for step in found.steps if step.action == "stage"] == ["ctl[1-2]"]


def test_the_summary_can_be_quoted(base: Bundle) -> None:
    found = plan(base, REMOVE, FEWER)
    assert found.summary == (
        "lab, Slurm 24.11: 1 changed, 1 removed; slurmctld reconfigure, slurmd reconfigure; "
        "drain 1 first; 3 hosts contacted"
    )
