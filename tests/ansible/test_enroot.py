"""Role enroot on this machine, in folders of its own: hooks of cluster.yaml are linked, others taken away."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ansible", reason="ansible-core is not installed")
#: Several runs of a playbook as root: too long for the quick tests.
pytestmark = pytest.mark.rehearsal


def run(folder: Path, *hooks: str) -> subprocess.CompletedProcess[str]:
    for name in ("bin", "share/hooks.d", "etc"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "share/hooks.d/50-slurm-pmi.sh").write_text("true\n", encoding="utf-8")
    (folder / "share/hooks.d/50-slurm-pytorch.sh").write_text("true\n", encoding="utf-8")
    (folder / "bin/enroot").write_text("#!/bin/sh\necho 4.1.2\n", encoding="utf-8")
    (folder / "bin/enroot").chmod(0o755)
    play = {
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": True,
        "gather_subset": ["!all", "min"],
        "roles": ["enroot"],
    }
    (folder / "play.yml").write_text(json.dumps([play]), encoding="utf-8")
    values = {
        "slurm_enroot_hooks": list(hooks),
        "enroot_package_folder": str(folder / "kept"),
        "enroot_share_folder": str(folder / "share"),
        "enroot_hooks_folder": str(folder / "etc"),
        "ansible_python_interpreter": sys.executable,
    }
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), str(folder / "play.yml")]
    argv += ["-i", "localhost,", "-e", json.dumps(values)]
    env = {
        **os.environ,
        "ANSIBLE_CONFIG": str(Path("ansible.cfg").absolute()),
        "ANSIBLE_NOCOLOR": "1",
        "PATH": f"{folder}/bin:{os.environ['PATH']}",
    }
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env, timeout=600)


def test_hooks_are_linked_once_and_go_with_their_word_and_others_stay(tmp_path: Path) -> None:
    first = run(tmp_path, "50-slurm-pmi.sh", "50-slurm-pytorch.sh")
    assert first.returncode == 0, first.stdout
    (tmp_path / "etc/98-nvidia.sh").write_text("true\n", encoding="utf-8")
    second = run(tmp_path, "50-slurm-pmi.sh")
    assert second.returncode == 0, second.stdout
    assert sorted(path.name for path in (tmp_path / "etc").iterdir()) == ["50-slurm-pmi.sh", "98-nvidia.sh"]
    assert (tmp_path / "etc/50-slurm-pmi.sh").resolve() == tmp_path / "share/hooks.d/50-slurm-pmi.sh"
    assert "changed=0" in run(tmp_path, "50-slurm-pmi.sh").stdout


def test_a_hook_that_this_enroot_does_not_bring_is_refused_by_name(tmp_path: Path) -> None:
    done = run(tmp_path, "50-sharp.sh")
    assert done.returncode == 2
    assert "containers.hooks asks for 50-sharp.sh" in done.stdout
    assert list((tmp_path / "etc").iterdir()) == []
