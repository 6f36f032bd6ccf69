"""A change of what NCCL is told asks nothing of any daemon."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from slurmwright.core.bundle import read_bundle
from slurmwright.plan import compare

RENDERED = Path(__file__).parents[2] / "inventories" / "dgx-h100-64n" / "rendered"


def test_a_changed_nccl_conf_restarts_nobody_and_drains_nothing() -> None:
    base, _ = read_bundle(RENDERED)
    files = [
        replace(file, text=file.text + "NCCL_IB_SL=1\n") if file.path == "/etc/nccl.conf" else file
        for file in base.files
    ]
    (found,) = compare(base, replace(base, files=tuple(files))).changes
    assert found.file == "/etc/nccl.conf"
    assert "first makes a communicator" in found.jobs
    asked = found.effects
    assert (asked.slurmctld, asked.slurmd, asked.slurmdbd, asked.drain) == ("none", "none", "none", "")
