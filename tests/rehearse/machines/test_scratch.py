"""The inventory that the playbooks get for the guests."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from slurmwright.apply.inventory import CONTROLLER, DATABASE, LOGIN, NODE
from slurmwright.apply.load import load_inventory
from slurmwright.core.release import Release
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machines.cut import cut
from slurmwright.rehearse.machines.guests import Access
from slurmwright.rehearse.machines.plan import plan
from slurmwright.rehearse.machines.scratch import BUNDLE, adaptations, write_inventory
from slurmwright.rehearse.machines.shape import SERVER
from slurmwright.rehearse.machines.wiring import wire
from slurmwright.render import render

INVENTORIES = Path(__file__).parents[3] / "inventories"
NAMES = sorted(path.parent.name for path in INVENTORIES.glob("*/cluster.yaml"))


def scratch(name: str, folder: Path) -> Path:
    cluster = load_cluster(INVENTORIES / name)
    one = plan(cluster, {}, expected_nodes(cluster, {}), 1)
    bundle, _ = cut(render(cluster, {}), one)
    guests = wire(dict.fromkeys(one.guests, SERVER), folder)
    access = Access(folder / "key", folder / "known_hosts", folder)
    release = Release.parse(bundle.release)
    write_inventory(folder / "inventory", INVENTORIES / name, bundle, one, guests, access, release)
    return folder / "inventory"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "scale-1000n"])
def test_every_example_is_an_inventory_that_may_be_pushed(name: str, tmp_path: Path) -> None:
    folder = scratch(name, tmp_path)
    found = load_inventory(folder, folder / BUNDLE)
    common = found.groups[0].vars
    assert common["slurm_files_problem"] == ""
    groups = {group.name: group.hosts for group in found.groups}
    original = load_cluster(INVENTORIES / name)
    server = original.control.controllers[0].host
    assert groups[CONTROLLER] == (server,)
    assert groups[DATABASE] == ((server,) if original.control.database else ())
    assert groups[LOGIN] == ((server,) if original.control.login else ())
    assert groups[NODE] == tuple(host for group in original.nodes for host in group.hosts)


def test_guests_are_reached_on_this_machine_with_host_keys_checked(tmp_path: Path) -> None:
    folder = scratch("dgx-a100-20n", tmp_path)
    own = yaml.safe_load((folder / "host_vars" / "dgx01.yml").read_text())
    assert own["ansible_host"] == "127.0.0.1"
    assert isinstance(own["ansible_port"], int)
    every = yaml.safe_load((folder / "group_vars" / "all.yml").read_text())
    assert f"UserKnownHostsFile={tmp_path}/known_hosts" in every["ansible_ssh_common_args"]
    assert "StrictHostKeyChecking=no" not in every["ansible_ssh_common_args"]


def test_the_server_gets_the_files_of_the_parts_that_it_plays(tmp_path: Path) -> None:
    folder = scratch("dgx-a100-20n", tmp_path)
    found = load_inventory(folder, folder / BUNDLE)
    own = next(g for g in found.groups if g.name.startswith("slurm_files_") and "head1" in g.hosts)
    paths = {entry["path"] for entry in own.vars["slurm_files_entries"]}
    assert {"/etc/slurm/slurm.conf", "/etc/slurm/slurmdbd.conf", "/etc/default/sackd"} <= paths


def test_scaling_and_stand_ins_are_told_for_each_type() -> None:
    cluster = load_cluster(INVENTORIES / "mixed")
    made = adaptations(cluster, plan(cluster, {}, expected_nodes(cluster, {}), 1))
    told = {one.file: one for one in made}
    assert (told["node type dgx-h100"].old, told["node type dgx-h100"].new) == ("56", "4")
    assert "stand-ins" in told["node type dgx-h100"].reason
