"""A small configless cluster as a bundle, and a function that edits one of its files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from slurmwright.core.bundle import Bundle, BundleFile

SLURM = """\
ClusterName=lab
SlurmctldHost=ctl1
SlurmctldHost=ctl2
SlurmctldParameters=enable_configless
GresTypes=gpu
TaskPlugin=task/cgroup,task/affinity
NodeName=gpu[1-4] Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=1000 Gres=gpu:h100:2
PartitionName=train Nodes=ALL Default=YES
PartitionName=debug Nodes=gpu[3-4]
"""
GRES = "NodeName=gpu[1-4] Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=0-7\n"
CGROUP = "ConstrainDevices=yes\n"
DATABASE = "DbdHost=db1\nStoragePass=@SLURMWRIGHT_STORAGE_PASSWORD@\n"
UNIT = "[Service]\nLimitMEMLOCK=infinity\n"
DROP_IN = "/etc/systemd/system/slurmd.service.d/slurmwright.conf"

Edit = Callable[..., Bundle]


def bundle_file(path: str, text: str, hosts: str, mode: str = "0644") -> BundleFile:
    return BundleFile(path, path.lstrip("/"), hosts, "root", "root", mode, text)


def lab(release: str = "24.11", holders: str = "ctl[1-2]") -> Bundle:
    files = (
        bundle_file("/etc/slurm/slurm.conf", SLURM, holders),
        bundle_file("/etc/slurm/gres.conf", GRES, holders),
        bundle_file("/etc/slurm/cgroup.conf", CGROUP, holders),
        bundle_file("/etc/slurm/slurmdbd.conf", DATABASE, "db1", "0600"),
        bundle_file(DROP_IN, UNIT, "gpu[1-4]"),
    )
    return Bundle("lab", release, tuple(sorted(files)))


def edited(bundle: Bundle, name: str, *swaps: tuple[str, str]) -> Bundle:
    """The bundle with `old` → `new` in the file of that name; each `old` must be there."""
    files = []
    for file in bundle.files:
        text = file.text
        for old, new in swaps if file.path.endswith(f"/{name}") else ():
            assert old in text, f"{name} holds no {old!r}"
            text = text.replace(old, new)
        files.append(replace(file, text=text))
    return replace(bundle, files=tuple(files))


@pytest.fixture
def base() -> Bundle:
    return lab()
