"""Every command line of verify is taken by the programs of real Slurm releases; no daemon is asked."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from slurmwright.verify import commands
from slurmwright.verify.launches import launches, srun_options
from slurmwright.verify.slurm import SINFO
from slurmwright.verify.wanted import Wanted

from .conftest import node_of

pytestmark = pytest.mark.rehearsal
WANTED = Wanted(account="a", qos="q", reservation="r")
NODES = ("gpu1", "gpu2")
#: A slurm.conf that the programs can read, on a file system of this process alone.
_INSIDE = """
mount -t tmpfs none "$1/mnt"; mount --bind /dev "$1/dev"
cat >"$1/mnt/slurm.conf" <<END
ClusterName=x
SlurmctldHost=localhost
NodeName=gpu1
AuthType=auth/none
CredType=cred/none
END
root=$1; shift
exec chroot "$root" env SLURM_CONF=/mnt/slurm.conf "$@"
"""


def lines() -> dict[str, Sequence[str]]:
    """Name → command line, without what the command runs."""
    found: dict[str, Sequence[str]] = {
        one.name: commands.srun("n", NODES, "train", WANTED, srun_options(one, 2))
        for one in launches(node_of("dgx-h100-64n"))
    }
    found["array"] = commands.array("n", NODES, "train", WANTED, 8)
    found["step"] = commands.step("77", 2)
    found["salloc"] = commands.salloc("n", "gpu1", "train", WANTED)
    found["interactive"] = ["srun", "-Q", "--interactive", "--preserve-env"]
    found["sinfo"] = SINFO
    found["squeue"] = ["squeue", "-h", "-r", "-t", "R", "-j", "7", "-o", "%A"]
    return {name: [word for word in line if word not in ("sh", "-s", "--")] for name, line in found.items()}


@pytest.mark.parametrize("name", lines())
@pytest.mark.parametrize("series", ["22.05", "24.11", "26.05"])
def test_a_release_takes_the_command_line(slurm_root: Callable[[str], Path], series: str, name: str) -> None:
    argv = [
        "unshare",
        "--mount",
        "sh",
        "-euc",
        _INSIDE,
        "sh",
        str(slurm_root(series)),
        *lines()[name],
        "--version",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout.split()[:1]) == (0, ["slurm-wlm"]), done.stderr


def test_an_option_that_does_not_exist_would_be_seen(slurm_root: Callable[[str], Path]) -> None:
    argv = [
        "unshare",
        "--mount",
        "sh",
        "-euc",
        _INSIDE,
        "sh",
        str(slurm_root("24.11")),
        "srun",
        "--nosuch",
        "--version",
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert "unrecognized option" in done.stderr
