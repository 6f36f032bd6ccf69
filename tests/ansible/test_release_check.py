"""The release check of role slurm_packages on this machine: reads only, and names both releases."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PLAYBOOK = """
- hosts: localhost
  gather_subset: ["!all", min]
  tasks:
    - ansible.builtin.include_role: {name: slurm_packages, tasks_from: check}
"""
FILES = [
    {"file": "packages/slurm-smd-slurmd_25.05.3-1_amd64.deb", "sha256": "0" * 64},
    {"file": "packages/slurm-smd_25.05.3-1_amd64.deb", "sha256": "0" * 64},
    {"url": "http://packages.site/slurm-smd-client_25.05.3-1_amd64.deb", "sha256": "0" * 64},
]


def check(folder: Path, **variables: Any) -> tuple[int, str]:
    pytest.importorskip("ansible")
    if shutil.which("dpkg-query") is None:
        pytest.skip("needs the package tools of Debian or Ubuntu")
    playbook = folder / "check.yml"
    playbook.write_text(PLAYBOOK)
    given = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable, **variables}
    done = subprocess.run(
        [sys.executable, "-m", "ansible.cli.playbook", "-i", "localhost,", "-e", json.dumps(given), playbook],
        env={**os.environ, "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_given_packages_of_another_release_are_refused_with_both_named(tmp_path: Path) -> None:
    code, said = check(
        tmp_path,
        slurm_release="24.11",
        slurm_packages_source="files",
        slurm_packages_files=FILES,
        slurm_packages_components=["slurmd"],
    )
    assert code == 2
    assert "slurm-smd-slurmd" in said
    assert "25.05.3-1 is what this host gets from files" in said
    assert "slurm.release in cluster.yaml is 24.11; nothing was changed" in said


@pytest.mark.parametrize("release", ["25.05", "25.05.3"])
def test_given_packages_of_the_release_pass(tmp_path: Path, release: str) -> None:
    code, said = check(
        tmp_path,
        slurm_release=release,
        slurm_packages_source="files",
        slurm_packages_files=FILES,
        slurm_packages_components=["slurmd"],
    )
    assert (code, "changed=0" in said) == (0, True), said


def test_a_package_that_is_not_among_the_given_ones_is_named(tmp_path: Path) -> None:
    code, said = check(
        tmp_path,
        slurm_release="25.05",
        slurm_packages_source="files",
        slurm_packages_files=FILES,
        slurm_packages_components=["slurmd", "pam_slurm_adopt"],
    )
    assert code == 2
    assert "slurm-smd-libpam-slurm-adopt: no such package from files on this host" in said


def test_a_release_that_begins_with_the_same_digits_is_another(tmp_path: Path) -> None:
    code, said = check(
        tmp_path,
        slurm_release="25.05.30",
        slurm_packages_source="files",
        slurm_packages_files=FILES,
        slurm_packages_components=["slurmd"],
    )
    assert code == 2
    assert "slurm.release in cluster.yaml is 25.05.30" in said
