"""Playbooks as Ansible reads them, before any host is asked."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ansible", reason="ansible-core is not installed")

EXAMPLE = "inventories/dgx-a100-20n/cluster.yaml"


def playbook(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", EXAMPLE, *arguments]
    env = {**os.environ, "ANSIBLE_CONFIG": str(Path("ansible.cfg").absolute()), "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env, timeout=120)


@pytest.mark.parametrize("name", ["site", "push", "verify"])
def test_ansible_takes_it_without_a_warning(name: str) -> None:
    done = playbook("--syntax-check", f"ansible/{name}.yml")
    assert (done.returncode, done.stderr) == (0, "")


def test_every_release_is_compared_before_the_first_change() -> None:
    lines = playbook("--list-tasks", "ansible/site.yml").stdout.splitlines()
    tasks = [line.partition("\tTAGS")[0].strip() for line in lines]
    first_change = next(at for at, task in enumerate(tasks) if task.startswith("base : "))
    before = tasks[:first_change]
    for role in ("slurm_database", "slurm_controller", "slurm_node", "slurm_login"):
        assert any(task.startswith(f"{role} : ") for task in before), role
        assert any(task.startswith(f"{role} : ") for task in tasks[first_change:]), role
