"""Finds out whether KVM really runs a guest: some machines have /dev/kvm and nothing that works behind it."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from slurmwright.rehearse.machines.image import Image
from slurmwright.rehearse.machines.qemu import PROGRAM

#: Seconds. With KVM a kernel says its name within one.
_PATIENCE = 8


def kvm_runs(image: Image) -> bool:
    """Does a kernel of the image begin to run under KVM?"""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    with tempfile.TemporaryDirectory(prefix="slurmwright-") as folder:
        console = Path(folder) / "console"
        argv = [
            *(PROGRAM, "-nodefaults", "-no-user-config", "-display", "none", "-machine", "q35", "-m", "256M"),
            *("-accel", "kvm", "-cpu", "host", "-serial", f"file:{console}"),
            *("-kernel", str(image.kernel), "-initrd", str(image.initrd), "-append", "console=ttyS0"),
        ]
        quiet = subprocess.DEVNULL
        with subprocess.Popen(argv, stdin=quiet, stdout=quiet, stderr=quiet) as trial:
            try:
                return _speaks(trial, console)
            finally:
                trial.kill()


def _speaks(trial: subprocess.Popen[bytes], console: Path) -> bool:
    end = time.monotonic() + _PATIENCE
    while trial.poll() is None and time.monotonic() < end:
        if console.exists() and b"Linux version" in console.read_bytes():
            return True
        time.sleep(0.1)
    return False
