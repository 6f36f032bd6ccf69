"""What is shown before the question: plays, their hosts and roles."""

from __future__ import annotations

from pathlib import Path

from slurmwright.apply.load import load_inventory
from slurmwright.apply.steps import playbook_file, steps

EVERY = ("ctl1", "ctl2", "db1", "login1", "gpu1", "gpu2", "c1", "c2")


def test_daemons_come_in_the_order_in_which_slurm_updates_them(cluster_folder: Path) -> None:
    found = steps(playbook_file("site"), load_inventory(cluster_folder), EVERY)
    daemons = [role for step in found for role in step.roles if role.startswith("slurm_")]
    order = [role for role in daemons if role != "slurm_files"]
    assert order == ["slurm_database", "slurm_controller", "slurm_node", "slurm_login"]


def test_files_are_there_before_each_daemon(cluster_folder: Path) -> None:
    for step in steps(playbook_file("site"), load_inventory(cluster_folder), EVERY):
        for role in ("slurm_controller", "slurm_node", "slurm_login"):
            if role in step.roles:
                assert step.roles.index("slurm_files") < step.roles.index(role)


def test_roles_that_cluster_yaml_does_not_ask_for_are_not_shown(cluster_folder: Path) -> None:
    without = steps(playbook_file("site"), load_inventory(cluster_folder), EVERY)
    assert not any("pyxis" in step.roles for step in without)
    file = cluster_folder / "cluster.yaml"
    file.write_text(file.read_text() + "containers: {runtime: enroot-pyxis}\n")
    with_containers = steps(playbook_file("site"), load_inventory(cluster_folder), EVERY)
    nodes = next(step for step in with_containers if "slurm_node" in step.roles)
    assert nodes.roles.index("pyxis") < nodes.roles.index("slurm_node")


def test_only_plays_with_a_host_of_the_limit_are_shown(cluster_folder: Path) -> None:
    found = steps(playbook_file("push"), load_inventory(cluster_folder), ("gpu2",))
    assert {step.hosts for step in found} == {("gpu2",)}
    assert not any("controllers" in step.name for step in found)
