"""Times whole `slurmwright render` processes, interpreter start included, and prints one row for each size.

`make bench`, or python benchmarks/render.py [NODES ...]. Peak memory is that of the process (ru_maxrss).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SIZES = (64, 1_000, 10_000)
RUNS = 3
CLUSTER = """\
name: bench
slurm: {{release: "24.11"}}
control: {{controllers: [ctl1, ctl2], state_dir: /shared/slurm, database: db1, login: [login1]}}
nodes:
  - {{hosts: "gpu[00001-{nodes:05d}]", type: dgx-h100, racks: {{size: 4}}, features: [h100]}}
topology: tree
partitions:
  - {{name: train, nodes: all, default: true, max_time: 7-00:00:00}}
  - {{name: debug, nodes: {{hosts: "gpu[00001-00002]"}}, max_time: 60}}
"""


@dataclass(frozen=True)
class Run:
    """What one process took."""

    seconds: float
    peak_mb: float


def measure(inventory: Path, output: Path) -> Run:
    """One render as a user starts it, the modules compiled already."""
    command = [
        sys.executable,
        "-m",
        "slurmwright.cli.main",
        "render",
        "-i",
        str(inventory),
        "-o",
        str(output),
    ]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"render of {inventory} ended with {process.returncode}")
    return Run(seconds, usage.ru_maxrss / 1024)


def main(sizes: list[int]) -> None:
    print(f"{'nodes':>7}  {'seconds':>7}  {'peak MB':>7}   least of {RUNS} runs")
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sizes:
            inventory = Path(folder) / str(nodes)
            inventory.mkdir()
            (inventory / "cluster.yaml").write_text(CLUSTER.format(nodes=nodes), encoding="utf-8")
            runs = [measure(inventory, Path(folder) / "out") for _ in range(RUNS)]
            seconds, peak = min(run.seconds for run in runs), min(run.peak_mb for run in runs)
            print(f"{nodes:>7}  {seconds:>7.2f}  {peak:>7.1f}")


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or list(SIZES))
