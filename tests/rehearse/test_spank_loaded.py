"""A SPANK plugin of our own under real Slurm: the release that we read from its file decides whether srun and
slurmd take it."""

from __future__ import annotations

import base64
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.spank_plugin import plugin_release, release_text, same_series
from slurmwright.rehearse.machine import Machine

pytestmark = pytest.mark.rehearsal

_CLUSTER = """\
name: plugin
slurm: {release: "SERIES"}
control: {controllers: [ctl1]}
nodes: [{hosts: n1, type: dgx-h100}]
partitions: [{name: p, nodes: all, default: true}]
"""
_SOURCE = """\
#include <slurm/spank.h>
#ifdef OTHER
#undef SLURM_VERSION_NUMBER
#define SLURM_VERSION_NUMBER OTHER
#endif
SPANK_PLUGIN(own, 1)
int slurm_spank_init(spank_t spank, int count, char **words)
{
    slurm_info("the own plugin is here");
    return 0;
}
"""
_PLUGIN, _STACK = "/var/spool/slurmd/own.so", "/etc/slurm/plugstack.conf"
_LOADED = "the own plugin is here"
Build = Callable[[str], bytes]


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of slurm/spank.h, from Debian's libslurm-dev."""
    if Path("/usr/include/slurm/spank.h").exists():
        return Path("/usr/include")
    folder = tmp_path_factory.mktemp("headers")
    subprocess.run(["apt-get", "download", "libslurm-dev"], cwd=folder, capture_output=True, check=True)
    (package,) = folder.glob("libslurm-dev_*.deb")
    subprocess.run(["dpkg-deb", "-x", str(package), str(folder)], check=True)
    return folder / "usr/include"


@pytest.fixture
def build(headers: Path, tmp_path: Path) -> Build:
    """A function that compiles the plugin with the headers as they are, or as those of another release."""

    def compiled(release: str) -> bytes:
        (tmp_path / "own.c").write_text(_SOURCE, encoding="utf-8")
        major, minor, patch = map(int, release.split(".")) if release else (0, 0, 0)
        other = [f"-DOTHER={major << 16 | minor << 8 | patch}"] if release else []
        argv = ["cc", "-shared", "-fPIC", f"-I{headers}", *other, "-o", "own.so", "own.c"]
        subprocess.run(argv, cwd=tmp_path, check=True)
        return (tmp_path / "own.so").read_bytes()

    return compiled


def _place(machine: Machine, plugin: bytes) -> None:
    text = base64.b64encode(plugin).decode()
    for host in ("ctl1", "n1"):
        put = f"mkdir -p {_PLUGIN.rpartition('/')[0]} && echo {text} | base64 -d >{_PLUGIN}"
        assert machine.on_host(host, ["sh", "-c", put]).ok


def _until(condition: Callable[[], bool], limit_s: float = 300) -> bool:
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


@pytest.mark.parametrize(
    ("series", "good", "bad"), [("24.11", "24.11.0", "25.05.3"), ("26.05", "26.05.0", "25.11.9")]
)
def test_what_we_read_from_the_file_is_what_srun_and_slurmd_go_by(
    running: Callable[[str, str], Machine], build: Build, series: str, good: str, bad: str
) -> None:
    machine = running(_CLUSTER, series)
    node = machine.cast.compute[0]
    machine.place_file("ctl1", _STACK, f"required {_PLUGIN}\n", 0o644)
    _place(machine, build(good))
    assert machine.ctl("scontrol", "reconfigure").ok
    assert _until(lambda: _LOADED in machine.node_log(node))
    for release in (good, bad):
        plugin = build(release)
        assert release_text(plugin) == release
        takes = same_series(release, series)
        _place(machine, plugin)
        submitted = machine.ctl("srun", "--test-only", "-n1", "true")
        assert submitted.ok is takes, submitted.err
        assert (_LOADED if takes else "own.so: Incompatible plugin version") in submitted.err
        # A client without plugstack.conf submits: what happens then is slurmstepd's alone.
        done = machine.run(["srun", "-n1", "--immediate=60", "true"], limit_s=200)
        assert done.ok is takes, done.err
    refused = f"Incompatible Slurm plugin {_PLUGIN} version ({bad})"
    assert _until(lambda: refused in machine.node_log(node))


def test_the_headers_that_a_plugin_is_built_with_are_the_release_that_we_read(
    build: Build, headers: Path
) -> None:
    text = (headers / "slurm/slurm_version.h").read_text(encoding="utf-8")
    (number,) = (line.split()[2] for line in text.splitlines() if "define SLURM_VERSION_NUMBER" in line)
    major, minor, patch = plugin_release(build(""))
    assert major << 16 | minor << 8 | patch == int(number, 16)
