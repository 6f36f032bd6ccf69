"""Our own benchmark: numbers and form are those of nccl-tests; with PyTorch at hand it runs over gloo."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from slurmwright.nccl import torch_bench
from slurmwright.nccl.bandwidth import bandwidths
from slurmwright.nccl.results import read_output
from slurmwright.nccl.traps import traps

SOURCE = Path(torch_bench.__file__)


@pytest.fixture(scope="module")
def python() -> str:
    """A Python that has torch: this one, or the system's (Debian's python3-torch)."""
    for name in (sys.executable, shutil.which("python3", path="/usr/bin:/bin") or ""):
        look = [name, "-c", "import torch.distributed as d; assert d.is_available()"]
        if name and subprocess.run(look, capture_output=True, check=False).returncode == 0:
            return name
    pytest.skip("no Python here has torch")


@pytest.mark.parametrize("operation", ["all_reduce", "all_gather", "alltoall", "broadcast"])
def test_algorithm_bandwidth_is_size_over_time(operation: str, capsys: pytest.CaptureFixture[str]) -> None:
    torch_bench._line(operation, 1 << 30, 0.01, 8, 0)
    header = "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
    place = read_output(header + capsys.readouterr().out).rows[0].places[0]
    assert (place.algbw, place.busbw) == pytest.approx(bandwidths(operation, 1 << 30, 0.01, 8), abs=1e-3)


def test_sizes_go_by_the_factor_up_to_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "argv", ["x", "--master", "a", "-b", "1M", "-e", "4G", "-f", "16", "-g", "1", "-n", "2"]
    )
    assert torch_bench._sizes(torch_bench._arguments()) == [1 << 20, 1 << 24, 1 << 28, 1 << 32]


def test_four_ranks_really_run_and_no_trap_is_seen(python: str) -> None:
    words = [
        "--operation",
        "all_reduce",
        "--master",
        "127.0.0.1",
        *["-b", "256K", "-e", "1M", "-f", "2", "-n", "2", "-w", "1"],
    ]
    ranks = [
        subprocess.Popen(
            [python, "-", *words],
            stdin=SOURCE.open("rb"),
            stdout=subprocess.PIPE,
            text=True,
            env={
                "PATH": os.environ["PATH"],
                "SLURM_PROCID": str(rank),
                "SLURM_NTASKS": "4",
                "SLURM_LOCALID": str(rank),
                "SLURM_JOB_ID": str(os.getpid()),
            },
        )
        for rank in range(4)
    ]
    texts = [rank.communicate(timeout=120)[0] for rank in ranks]
    found = read_output(texts[0])
    assert [row.size for row in found.rows] == [1 << 18, 1 << 19, 1 << 20]
    assert (len(found.ranks), found.wrong, found.out_of_bounds) == (4, 0, 0)
    assert traps(found, 4, "all_reduce") == ()
