"""Role pyxis on this machine, in folders of its own: a plugin of another Slurm never reaches its place."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ansible", reason="ansible-core is not installed")
#: Several runs of a playbook as root: too long for the quick tests.
pytestmark = pytest.mark.rehearsal


def plugin(number: int) -> bytes:
    """As small as an ELF file with the symbol plugin_version can be."""
    names = b"\0plugin_version\0"
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 188, 0, 64, 56, 1, 64, 3, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 4, 120, 0x2000, 0x2000, 4, 4, 8)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x11, 0, 1, 0x2000, 4)
    data = header + segment + struct.pack("<I", number) + names
    data += bytes(188 - 48 - len(data)) + symbols + bytes(64)
    data += struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, 140, 48, 2, 0, 8, 24)
    return data + struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 124, len(names), 0, 0, 1, 0)


def run(folder: Path, *packages: dict[str, str], check: bool = False) -> subprocess.CompletedProcess[str]:
    play = {
        "hosts": "localhost",
        "connection": "local",
        "gather_facts": True,
        "gather_subset": ["!all", "min"],
        "roles": ["pyxis"],
    }
    (folder / "play.yml").write_text(json.dumps([play]))
    values: dict[str, Any] = {
        "slurm_release": "24.11",
        "slurm_pyxis_plugin": str(folder / "lib/spank_pyxis.so"),
        "pyxis_package_folder": str(folder / "kept"),
        "pyxis_packages": list(packages),
        "ansible_python_interpreter": sys.executable,
    }
    argv = [str(Path(sys.executable).with_name("ansible-playbook")), str(folder / "play.yml")]
    argv += ["-i", "localhost,", "-e", json.dumps(values), *(["--check"] if check else [])]
    env = {**os.environ, "ANSIBLE_CONFIG": str(Path("ansible.cfg").absolute()), "ANSIBLE_NOCOLOR": "1"}
    return subprocess.run(argv, capture_output=True, text=True, check=False, env=env, timeout=300)


def test_a_plugin_of_another_release_is_refused_with_both_named_and_not_placed(tmp_path: Path) -> None:
    (tmp_path / "pyxis-25.05.so").write_bytes(plugin(0x190503))
    done = run(tmp_path, {"file": str(tmp_path / "pyxis-25.05.so")})
    assert done.returncode == 2
    assert "pyxis-25.05.so was built for Slurm 25.05.3, and the cluster runs 24.11" in done.stdout
    assert "changed=0" in done.stdout
    assert not (tmp_path / "lib").exists()


def test_a_plugin_of_the_release_is_placed_once(tmp_path: Path) -> None:
    (tmp_path / "pyxis.so").write_bytes(plugin(0x180B05))
    first = run(tmp_path, {"file": str(tmp_path / "pyxis.so")})
    assert first.returncode == 0, first.stdout
    assert (tmp_path / "lib/spank_pyxis.so").read_bytes() == plugin(0x180B05)
    again = run(tmp_path, {"file": str(tmp_path / "pyxis.so")})
    assert "changed=0" in again.stdout


def test_without_any_plugin_nothing_goes_on(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 2
    assert "give pyxis_packages in group_vars" in done.stdout.replace("\n", " ")
