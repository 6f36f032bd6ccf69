"""Two controllers, each a folder of this machine: only one that both see is taken for shared state."""

from __future__ import annotations

import getpass
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PLAYBOOK = """
- hosts: all
  gather_facts: false
  tasks:
    - ansible.builtin.include_role: {name: slurm_controller, tasks_from: state}
"""


def bring_up(folder: Path, first: Path, second: Path, **more: object) -> tuple[int, str]:
    pytest.importorskip("ansible")
    (folder / "state.yml").write_text(PLAYBOOK)
    own = {"c1": first, "c2": second}
    hosts = {
        name: {"slurm_state_dir": str(path), "slurm_is_primary_controller": name == "c1"}
        for name, path in own.items()
    }
    (folder / "hosts.json").write_text(json.dumps({"all": {"hosts": hosts}}))
    given = {
        "ansible_connection": "local",
        "ansible_python_interpreter": sys.executable,
        "slurm_user": getpass.getuser(),
        "slurm_controllers": list(own),
        **more,
    }
    command = [sys.executable, "-m", "ansible.cli.playbook", "-i", str(folder / "hosts.json")]
    done = subprocess.run(
        [*command, "-e", json.dumps(given), str(folder / "state.yml")],
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_one_folder_that_both_see_is_made_by_the_primary(tmp_path: Path) -> None:
    code, said = bring_up(tmp_path, tmp_path / "state", tmp_path / "state")
    assert code == 0, said
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_a_folder_of_the_second_ones_own_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    code, said = bring_up(tmp_path, tmp_path / "state", tmp_path / "other")
    assert code == 2
    assert "on c2 is not the folder that c1 sees; mount the shared storage" in said


def test_a_folder_that_the_second_does_not_have_is_refused(tmp_path: Path) -> None:
    code, said = bring_up(tmp_path, tmp_path / "state", tmp_path / "missing")
    assert code == 2
    assert "on c2 is not the folder that c1 sees" in said


def test_storage_that_fails_over_with_the_controllers_is_left_to_the_site(tmp_path: Path) -> None:
    code, said = bring_up(tmp_path, tmp_path / "one", tmp_path / "two", slurm_controller_shared_state=False)
    assert code == 0, said
