"""Groups and variables that Ansible gets, from cluster.yaml and a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from slurmwright.apply.inventory import HOOKS, Files, Group, Inventory, group_name, inventory
from slurmwright.apply.load import load_inventory
from slurmwright.core.bundle import read_bundle
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.model.load import load_cluster


def group(found: Inventory, name: str) -> Group:
    return next(one for one in found.groups if one.name == name)


def variables(found: Inventory, host: str) -> dict[str, Any]:
    """As Ansible merges them: the common group, the other groups, the host."""
    merged: dict[str, Any] = {}
    for one in found.groups:
        if host in one.hosts:
            merged.update(one.vars)
    return {**merged, **found.hosts[host]}


def test_hosts_are_grouped_by_daemon_type_and_partition(cluster_folder: Path) -> None:
    found = load_inventory(cluster_folder)
    members = {one.name: one.hosts for one in found.groups}
    assert members["slurm"] == ("ctl1", "ctl2", "db1", "login1", "gpu1", "gpu2", "c1", "c2")
    assert members["slurm_controller"] == ("ctl1", "ctl2")
    assert members["slurm_database"] == ("db1",)
    assert members["slurm_login"] == ("login1",)
    assert members["slurm_node"] == ("gpu1", "gpu2", "c1", "c2")
    assert members["type_dgx_h100"] == members["partition_train_h"] == ("gpu1", "gpu2")


def test_only_hosts_with_an_address_have_ansible_host(cluster_folder: Path) -> None:
    hosts = load_inventory(cluster_folder).hosts
    assert hosts["gpu2"]["ansible_host"] == "127.0.0.4"
    assert "ansible_host" not in hosts["ctl2"]


def test_the_first_controller_is_the_primary_and_no_other(cluster_folder: Path) -> None:
    found = load_inventory(cluster_folder)
    primary = [host for host in found.hosts if variables(found, host)["slurm_is_primary_controller"]]
    assert primary == ["ctl1"]


def test_gpus_and_nvswitch_follow_the_type(cluster_folder: Path) -> None:
    found = load_inventory(cluster_folder)
    gpu, cpu = variables(found, "gpu1"), variables(found, "c1")
    assert (gpu["slurm_node_type"], gpu["slurm_gpu_minors"]) == ("dgx-h100", list(range(8)))
    assert (gpu["slurm_has_nvswitch"], cpu["slurm_has_nvswitch"]) == (True, False)
    assert (cpu["slurm_gpu_count"], cpu["slurm_gpu_minors"]) == (0, [])


def test_a_host_that_lost_a_gpu_is_asked_for_seven() -> None:
    found = load_inventory(Path("inventories/mixed"))
    assert variables(found, "h07")["slurm_gpu_count"] == 7
    assert variables(found, "h08")["slurm_gpu_count"] == 8


def test_mig_capability_files_are_asked_only_of_the_divided_host() -> None:
    found = load_inventory(Path("inventories/mixed"))
    assert variables(found, "m01")["slurm_gpu_caps"][:4] == [822, 823, 831, 832]
    assert variables(found, "a01")["slurm_gpu_caps"] == []


def test_each_host_gets_exactly_the_files_that_the_bundle_has_for_it(cluster_folder: Path) -> None:
    found = load_inventory(cluster_folder)
    bundle, _ = read_bundle(cluster_folder / "rendered")
    for host in found.hosts:
        wanted = {(f.path, f.source, f.sha256) for f in bundle.files if host in expand(f.hosts)}
        listed = variables(found, host)["slurm_files_entries"]
        assert {(one["path"], one["source"], one["sha256"]) for one in listed} == wanted


def test_a_file_with_a_placeholder_for_the_password_says_so(cluster_folder: Path) -> None:
    listed = variables(load_inventory(cluster_folder), "db1")["slurm_files_entries"]
    assert [one["path"] for one in listed if one["has_password"]] == ["/etc/slurm/slurmdbd.conf"]


def test_hosts_with_the_same_files_share_one_list(cluster_folder: Path) -> None:
    sets = [one for one in load_inventory(cluster_folder).groups if one.name.startswith("slurm_files_")]
    assert [one.hosts for one in sets] == [
        ("ctl1", "ctl2"),
        ("db1",),
        ("login1",),
        ("gpu1", "gpu2"),
        ("c1", "c2"),
    ]


def test_a_bundle_of_other_hosts_gives_no_host_to_the_inventory(cluster_folder: Path) -> None:
    bundle, _ = read_bundle(Path("inventories/lab-1node/rendered"))
    found = inventory(load_cluster(cluster_folder), {}, Files("x", bundle))
    assert "slurm_files_1" not in [one.name for one in found.groups]


@pytest.mark.parametrize(
    ("name", "wanted"), [("dgx-h100", "dgx_h100"), ("aws-p4d.24xlarge", "aws_p4d_24xlarge")]
)
def test_a_group_name_is_one_that_ansible_takes(name: str, wanted: str) -> None:
    assert group_name("type", name) == f"type_{wanted}"


def test_fresh_files_may_be_pushed(cluster_folder: Path) -> None:
    assert group(load_inventory(cluster_folder), "slurm").vars["slurm_files_problem"] == ""


def test_files_that_were_never_rendered_are_named(tmp_path: Path, cluster_folder: Path) -> None:
    (tmp_path / "cluster.yaml").write_text((cluster_folder / "cluster.yaml").read_text())
    problem = group(load_inventory(tmp_path), "slurm").vars["slurm_files_problem"]
    assert problem.startswith(f"{tmp_path}/rendered does not exist; run `slurmwright render -i")


def test_files_older_than_cluster_yaml_are_named(cluster_folder: Path) -> None:
    file = cluster_folder / "cluster.yaml"
    file.write_text(file.read_text().replace("nominal_gib: 512", "nominal_gib: 256"))
    problem = group(load_inventory(cluster_folder), "slurm").vars["slurm_files_problem"]
    assert "is not what" in problem
    assert "(etc/slurm/slurm.conf); run `slurmwright render" in problem


def test_a_file_edited_by_hand_is_named(cluster_folder: Path) -> None:
    (cluster_folder / "rendered/etc/slurm/cgroup.conf").write_text("ConstrainDevices=no\n")
    problem = group(load_inventory(cluster_folder), "slurm").vars["slurm_files_problem"]
    assert "cgroup.conf was edited since it was rendered" in problem


def test_a_chosen_bundle_may_be_edited_and_gives_the_hash_of_what_it_holds(cluster_folder: Path) -> None:
    (cluster_folder / "rendered/etc/slurm/cgroup.conf").write_text("ConstrainDevices=no\n")
    found = load_inventory(cluster_folder, cluster_folder / "rendered")
    assert group(found, "slurm").vars["slurm_files_problem"] == ""
    entry = next(
        one
        for one in variables(found, "ctl1")["slurm_files_entries"]
        if one["path"] == "/etc/slurm/cgroup.conf"
    )
    assert entry["sha256"] == "0da251074a40dc349489ca8c3e98fd874e0051b7ec26720b8801a4d572cf2efc"


@pytest.mark.parametrize("part", ["name: pod2", 'release: "24.05"'])
def test_the_bundle_of_another_cluster_or_release_is_refused(cluster_folder: Path, part: str) -> None:
    file = cluster_folder / "cluster.yaml"
    old = "name: tiny" if part.startswith("name") else 'release: "24.11"'
    file.write_text(file.read_text().replace(old, part))
    problem = group(load_inventory(cluster_folder, cluster_folder / "rendered"), "slurm").vars
    assert part.split(": ")[1].strip('"') in problem["slurm_files_problem"]


def test_a_faulty_cluster_yaml_is_no_inventory(cluster_folder: Path) -> None:
    file = cluster_folder / "cluster.yaml"
    file.write_text(file.read_text().replace("state_dir", "stat_dir"))
    with pytest.raises(
        InputError, match=r"cluster\.yaml:5:3: unknown key 'stat_dir'; did you mean 'state_dir'"
    ):
        load_inventory(cluster_folder)


def test_role_enroot_can_switch_off_every_hook_that_cluster_yaml_can_switch_on() -> None:
    own = yaml.safe_load(Path("roles/enroot/vars/main.yml").read_text(encoding="utf-8"))["enroot_own_hooks"]
    assert sorted(own) == sorted(HOOKS.values())
