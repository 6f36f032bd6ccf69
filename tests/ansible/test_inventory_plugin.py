"""The inventory plugin through the real ansible-inventory, with the settings of the checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from slurmwright.model.load import load_cluster
from slurmwright.render import render

pytest.importorskip("ansible", reason="ansible-core is not installed")

CLUSTER = """\
name: tiny
slurm: {release: "24.11"}
control: {controllers: [{host: ctl1, address: 10.0.0.2}]}
nodes:
  - {hosts: "gpu[1-2]", type: dgx-h100, address: "10.0.0.[3-4]"}
partitions:
  - {name: train, nodes: all, default: true}
"""


def program(name: str, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    argv = [str(Path(sys.executable).with_name(name)), *arguments]
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": str(Path("ansible.cfg").absolute()),
        "ANSIBLE_NOCOLOR": "1",
        **more,
    }
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env, timeout=120)


def variables(where: Path, host: str, *more: str, **environ: str) -> dict[str, Any]:
    done = program("ansible-inventory", "-i", str(where), "--host", host, *more, **environ)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture
def inventory(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    render(load_cluster(tmp_path), {}).write(tmp_path / "rendered")
    return tmp_path


def test_a_host_has_its_address_its_type_and_its_files(inventory: Path) -> None:
    found = variables(inventory / "cluster.yaml", "gpu2")
    assert (found["ansible_host"], found["slurm_node_type"]) == ("10.0.0.4", "dgx-h100")
    assert found["slurm_gpu_minors"] == [0, 1, 2, 3, 4, 5, 6, 7]
    assert found["slurm_has_nvswitch"] is True
    assert found["slurm_files_problem"] == ""
    assert "/etc/slurm/prolog.sh" in {one["path"] for one in found["slurm_files_entries"]}


def test_variables_beside_cluster_yaml_count_and_come_before_ours(inventory: Path) -> None:
    (inventory / "group_vars").mkdir()
    (inventory / "host_vars").mkdir()
    (inventory / "group_vars/slurm_node.yml").write_text("ansible_user: admin\n")
    (inventory / "group_vars/all.yml").write_text("slurm_state_dir: /elsewhere\n")
    (inventory / "host_vars/gpu2.yml").write_text("ansible_host: 192.0.2.1\n")
    found = variables(inventory / "cluster.yaml", "gpu2")
    assert found["ansible_user"] == "admin"
    assert found["slurm_state_dir"] == "/elsewhere"
    assert found["ansible_host"] == "192.0.2.1"


def test_the_folder_is_read_as_its_cluster_yaml(inventory: Path) -> None:
    (inventory / "secrets").mkdir()
    (inventory / "secrets/munge.key").write_bytes(b"\0\1")
    assert variables(inventory, "gpu2") == variables(inventory / "cluster.yaml", "gpu2")


@pytest.mark.parametrize("way", ["extra variable", "environment"])
def test_another_bundle_may_be_named(inventory: Path, tmp_path: Path, way: str) -> None:
    other = tmp_path / "out"
    render(load_cluster(inventory), {}).write(other)
    (other / "etc/slurm/cgroup.conf").write_text("# edited\n")
    given = ("-e", f"slurm_files_bundle={other}") if way == "extra variable" else ()
    environ = {} if given else {"SLURMWRIGHT_BUNDLE": str(other)}
    found = variables(inventory / "cluster.yaml", "ctl1", *given, **environ)
    assert (found["slurm_files_bundle"], found["slurm_files_problem"]) == (str(other), "")


def test_stale_files_are_said_and_the_hosts_stay_reachable(inventory: Path) -> None:
    file = inventory / "cluster.yaml"
    file.write_text(file.read_text().replace("name: train", "name: prod"))
    assert "run `slurmwright render" in variables(file, "gpu1")["slurm_files_problem"]


def test_a_fault_of_cluster_yaml_is_one_line_with_its_place(inventory: Path) -> None:
    file = inventory / "cluster.yaml"
    file.write_text(file.read_text().replace("release", "relase"))
    done = program("ansible-inventory", "-i", str(file), "--list")
    assert (done.returncode, done.stdout) == (4, "")
    _, _, said = done.stderr.partition(" ")  # ansible-core before 2.19 begins with ERROR! instead of [ERROR]:
    assert said == f"{file}:2:9: unknown key 'relase'; did you mean 'release'?\n"


def test_plain_ansible_finds_hosts_and_groups(inventory: Path) -> None:
    done = program("ansible", "-i", str(inventory / "cluster.yaml"), "type_dgx_h100:!gpu1", "--list-hosts")
    assert done.stdout.split() == ["hosts", "(1):", "gpu2"]
