"""Containers: what pyxis and enroot are told, by the words of cluster.yaml."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.catalogue.container_options import container_options
from slurmwright.core.bundle import Bundle
from slurmwright.model.cluster import Cluster
from slurmwright.render import render

Make = Callable[..., Cluster]
_ALL = """\
fabric: {kind: infiniband}
scratch: {base: /local/scratch}
containers:
  runtime: enroot-pyxis
  enroot: "4.1"
  pyxis: "0.24"
  scope: global
  entrypoint: true
  importer: /usr/local/bin/fetch
  squashfuse: true
  mount_home: true
  restrict_devices: true
  shared_memory_gb: 64
  images: [/shared/images, /local/scratch/images]
  credentials: /shared/enroot
  cache: {keep_days: 7, max_gb: 200}
  registry: {proxy: "http://proxy:3128", no_proxy: ".site,10.0.0.1", ca_file: /etc/ssl/site.pem, http: true}
"""


def lines(bundle: Bundle, path: str) -> list[str]:
    (text,) = [file.text for file in bundle.files if file.path == path]
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def bundle(make: Make, more: str) -> Bundle:
    return render(make(more=more), {})


def test_pyxis_keeps_images_on_the_disk_and_a_container_lasts_as_its_job(make: Make) -> None:
    short = bundle(make, "containers: {runtime: enroot-pyxis}")
    (line,) = lines(short, "/etc/slurm/plugstack.conf")
    assert line == (
        "required /usr/local/lib/slurm/spank_pyxis.so runtime_path=/var/lib/enroot/pyxis "
        "execute_entrypoint=0 container_scope=job"
    )
    made = lines(short, "/etc/tmpfiles.d/slurmwright-slurmd.conf")
    assert "d /var/lib/enroot/pyxis 0755 root root -" in made


def test_every_word_reaches_pyxis_and_enroot(make: Make) -> None:
    whole = bundle(make, _ALL)
    (line,) = lines(whole, "/etc/slurm/plugstack.conf")
    assert line.endswith(
        "spank_pyxis.so runtime_path=/local/scratch/enroot/pyxis execute_entrypoint=1 container_scope=global "
        "importer=/usr/local/bin/fetch use_squashfuse=1"
    )
    conf = lines(whole, "/etc/enroot/enroot.conf")
    assert {
        "ENROOT_DATA_PATH /local/scratch/enroot/data/user-$(id -u)",
        "ENROOT_CONFIG_PATH /shared/enroot/user-$(id -u)",
        "ENROOT_MOUNT_HOME yes",
        "ENROOT_RESTRICT_DEV yes",
        "https_proxy http://proxy:3128",
        "no_proxy .site,10.0.0.1",
        "SSL_CERT_FILE /etc/ssl/site.pem",
        "ENROOT_ALLOW_HTTP yes",
    } <= set(conf)
    devices = lines(whole, "/etc/enroot/mounts.d/60-devices.fstab")
    assert [line.split()[1] for line in devices] == [
        "/dev/nvidia-caps-imex-channels",
        "/dev/gdrdrv",
        "/dev/shm",  # noqa: S108
    ]
    assert "size=64g" in devices[-1]
    made = lines(whole, "/etc/tmpfiles.d/slurmwright-slurmd.conf")
    assert "e /local/scratch/enroot/cache/user-* - - - 7d" in made
    assert "d /local/scratch/images 0755 root root -" in made
    assert not any("/shared/" in line for line in made)


def test_nothing_is_written_that_these_releases_do_not_know(make: Make) -> None:
    whole = bundle(make, _ALL)
    enroot, pyxis = container_options("enroot"), container_options("pyxis")
    for line in lines(whole, "/etc/enroot/enroot.conf"):
        assert enroot[line.split()[0]].known_in("3.1"), line
    for word in lines(whole, "/etc/slurm/plugstack.conf")[0].split()[2:]:
        assert pyxis[word.partition("=")[0]].known_in("0.24"), word


@pytest.mark.parametrize(
    ("fabric", "adapters"), [("infiniband", True), ("roce", True), ("efa", False), ("ethernet", False)]
)
def test_plain_images_get_the_driver_and_rdma_where_the_fabric_has_it(
    make: Make, fabric: str, adapters: bool
) -> None:
    found = bundle(make, f"fabric: {{kind: {fabric}}}\ncontainers: {{runtime: enroot-pyxis}}")
    environ = lines(found, "/etc/enroot/environ.d/50-slurmwright.env")
    assert "NVIDIA_VISIBLE_DEVICES=all" in environ
    assert ("MELLANOX_VISIBLE_DEVICES=all" in environ) == adapters


def test_containers_that_outlast_jobs_are_not_removed_with_them(make: Make) -> None:
    words = "containers: {{runtime: enroot-pyxis, scope: {}}}"
    for scope, removed in (("job", True), ("global", False)):
        (epilog,) = [f.text for f in bundle(make, words.format(scope)).files if f.path.endswith("/epilog.sh")]
        assert ("enroot/data" in epilog) == removed
        assert "enroot/temp" in epilog


def test_a_cache_beyond_its_size_loses_what_was_read_longest_ago(make: Make, tmp_path: Path) -> None:
    shell = shutil.which("dash") or "/bin/sh"
    (text,) = [f.text for f in bundle(make, _ALL).files if f.path.endswith("/epilog.sh")]
    start = text.index("trim() {")
    function = text[start : text.index("}\n", text.index("-delete")) + 2]
    function = function.replace(str(200 * 1024 * 1024), "24")
    cache = tmp_path / "user-7"
    cache.mkdir()
    for age, name in enumerate(("new\n0 0 x", "middle", "old")):
        path = cache / name
        path.write_bytes(bytes(10 * 1024))
        at = f"@{1_700_000_000 - age * 1000}"
        subprocess.run(["touch", "-a", "-d", at, str(path)], check=True)
    run = [shell, "-c", f'{function}\ntrim "{cache}"']
    assert subprocess.run(run, capture_output=True, check=False).stderr == b""
    assert sorted(path.name for path in cache.iterdir()) == ["middle", "new\n0 0 x"]
