"""Turns the folder of an installed Slurm into a root to rehearse in: this machine's own system, read-only."""

from __future__ import annotations

import re
from pathlib import Path

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.run import Runner
from slurmwright.rehearse.machine import SlurmRoot


def installed_slurm(prefix: Path, runner: Runner) -> tuple[SlurmRoot, str]:
    """The root and the version that `PREFIX/sbin/slurmd -V` prints, such as `25.05.3`."""
    folder = prefix.resolve()
    slurmd = folder / "sbin" / "slurmd"
    if not slurmd.exists():
        raise SlurmwrightError(
            f"{slurmd} does not exist; expected the folder that Slurm was installed to with "
            "`configure --prefix`, which holds bin/ and sbin/"
        )
    result = runner.run([str(slurmd), "-V"])
    found = re.search(r"\d\d\.\d\d\.\d+", result.out)
    if not found:
        raise SlurmwrightError(f"{slurmd} -V prints no version: {result.last_line}")
    return SlurmRoot(Path("/"), str(folder)), found[0]
