"""Measures one `slurmwright` process as a user starts it, interpreter start included."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """What one process took and printed."""

    cpu: float
    seconds: float
    peak_mb: float
    output: str


def slurmwright(*words: str, codes: tuple[int, ...] = (0,)) -> Run:
    """Run to its end; any other exit code ends the benchmark, for its times would say nothing."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "slurmwright.cli.main", *words], stdout=subprocess.PIPE, text=True
    )
    output = process.stdout.read() if process.stdout else ""
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in codes:
        sys.exit(f"slurmwright {' '.join(words)} ended with {process.returncode}: {output}")
    return Run(usage.ru_utime + usage.ru_stime, seconds, usage.ru_maxrss / 1024, output)
