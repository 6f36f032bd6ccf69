"""Checks of verify, to scenarios of a rehearsal; nodes of the hardware, to what their guests show."""

from __future__ import annotations

from pathlib import Path

from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machines.plan import plan
from slurmwright.rehearse.machines.verified import as_guest, verdicts
from slurmwright.verify.values import Check, Report

INVENTORIES = Path(__file__).parents[3] / "inventories"


def test_a_check_that_failed_on_one_node_is_a_failed_scenario_with_its_evidence() -> None:
    checks = (
        Check("munge", "gpu1", False, ("gpu1: Invalid credential",)),
        Check("munge", "gpu2", True, ("taken",)),
    )
    (one,) = verdicts(Report("pod1", checks, ()))
    assert (one.name, one.passed, one.evidence) == ("verify/munge", False, ("gpu1: Invalid credential",))


def test_what_was_not_checked_on_some_nodes_is_told_beside_what_passed() -> None:
    checks = (Check("clock", "gpu1", True, ("right",)), Check("clock", "gpu2", None, (), "busy"))
    (one,) = verdicts(Report("pod1", checks, ()))
    assert (one.passed, one.evidence) == (True, ("gpu1: right", "gpu2: not checked: busy"))


def test_what_was_checked_nowhere_is_not_passed() -> None:
    (one,) = verdicts(Report("pod1", (Check("ssh-adopted", "gpu1", None, (), "no key"),), ()))
    assert (one.passed, one.skipped) == (None, "gpu1: not checked: no key")


def test_numa_nodes_of_a_guest_are_counted_by_place() -> None:
    cluster = load_cluster(INVENTORIES / "dgx-a100-20n")
    (node,) = plan(cluster, {}, expected_nodes(cluster, {}), 1).nodes
    guest = as_guest(node)
    order = [one.id for one in node.expected.layout.nodes]
    assert [order[gpu.numa or 0] for gpu in guest.gpus] == [gpu.numa for gpu in node.expected.gpus]
