"""Plans of guests and their addresses; what an apply left behind, to a verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.apply.outcome import HostResult, Outcome
from slurmwright.core.errors import InputError
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machines.cut import cut
from slurmwright.rehearse.machines.engine import addresses, bootstrapped
from slurmwright.rehearse.machines.plan import plan
from slurmwright.render import render

INVENTORIES = Path(__file__).parents[3] / "inventories"


def test_guests_have_the_addresses_of_the_bundle_and_the_server_all_its_names() -> None:
    cluster = load_cluster(INVENTORIES / "dgx-a100-20n")
    expected = expected_nodes(cluster, {})
    one = plan(cluster, {}, expected, 2)
    found = addresses(cut(render(cluster, {}), one)[0], expected, one)
    assert (found["dgx01"], found["dgx02"]) == ("10.30.0.101", "10.30.0.102")
    assert found["head1"] == found["head2"] == found["login1"]
    assert len(set(found.values())) == 3


def test_a_backup_controller_has_an_address_and_no_guest() -> None:
    cluster = load_cluster(INVENTORIES / "dgx-h100-64n")
    expected = expected_nodes(cluster, {})
    one = plan(cluster, {}, expected, 1)
    found = addresses(cut(render(cluster, {}), one)[0], expected, one)
    assert found["ctl2"] == "10.20.0.12"
    assert one.guests == ("ctl1", "gpu001")


def test_two_guests_of_each_type() -> None:
    cluster = load_cluster(INVENTORIES / "mixed")
    one = plan(cluster, {}, expected_nodes(cluster, {}), 2)
    assert [node.host for node in one.nodes] == ["h01", "h02", "a01", "a02", "c01", "c02"]


def test_amd_gpus_have_no_stand_in(tmp_path: Path) -> None:
    text = (
        "name: mi\nslurm: {release: '24.11'}\ncontrol: {controllers: [c1]}\n"
        "nodes: [{hosts: g1, type: azure-standard_nd96isr_mi300x_v5}]\n"
        "partitions: [{name: p, nodes: {hosts: g1}, default: true}]\n"
    )
    (tmp_path / "cluster.yaml").write_text(text)
    cluster = load_cluster(tmp_path)
    with pytest.raises(InputError, match="stand-ins for NVIDIA's only; rehearse with --engine processes"):
        plan(cluster, {}, expected_nodes(cluster, {}), 1)


def test_a_bootstrap_that_stops_names_host_task_and_reason() -> None:
    hosts = (
        HostResult("ctl1", "changed", 9),
        HostResult("gpu001", "failed", 2, "munge: Place the key", "no"),
    )
    verdict = bootstrapped(Outcome(hosts, True, False, 2, False))
    assert verdict.failed
    assert verdict.evidence == ("gpu001: failed at 'munge: Place the key': no",)


def test_a_whole_bootstrap_says_what_changed() -> None:
    verdict = bootstrapped(Outcome((HostResult("ctl1", "changed", 9),), True, False, 0, False))
    assert verdict.passed
    assert verdict.evidence == ("ctl1: 9 tasks changed something",)
