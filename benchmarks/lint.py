"""Times whole `slurmwright lint` processes, interpreter start included, and prints one row for each size.

python benchmarks/lint.py [NODES ...]. Every node has a line of its own in slurm.conf and two
in gres.conf, the longest form there is; with and without a release, which is one judgement or eight.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from process import slurmwright

SIZES = (64, 1_000, 10_000)
RUNS = 3
HEAD = """\
ClusterName=bench
SlurmctldHost=ctl1
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
PrologFlags=Contain
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
TopologyPlugin=topology/tree
"""
NODE = (
    "NodeName=gpu{0:05d} NodeAddr=10.{1}.{2}.{3} CPUs=224 Boards=1 SocketsPerBoard=2 CoresPerSocket=56 "
    "ThreadsPerCore=2 RealMemory=2022000 Gres=gpu:h100:8 Features=h100 State=UNKNOWN\n"
)
DEVICES = "NodeName=gpu{0:05d} Name=gpu Type=h100 File=/dev/nvidia[{1}] Cores={2}\n"


def write(folder: Path, nodes: int) -> None:
    """A correct configuration of so many nodes."""
    numbers = range(nodes)
    lines = [NODE.format(n, n >> 16, n >> 8 & 255, n & 255) for n in numbers]
    partition = "PartitionName=all Nodes=ALL Default=YES DefMemPerGPU=250000\n"
    (folder / "slurm.conf").write_text(HEAD + "".join(lines) + partition)
    halves = (("0-3", "0-55"), ("4-7", "56-111"))
    devices = [DEVICES.format(n, files, cores) for n in numbers for files, cores in halves]
    (folder / "gres.conf").write_text("".join(devices))
    (folder / "cgroup.conf").write_text("ConstrainDevices=yes\nConstrainCores=yes\nConstrainRAMSpace=yes\n")
    leaves = [
        f"SwitchName=leaf{at} Nodes=gpu[{at:05d}-{min(at + 19, nodes - 1):05d}]\n" for at in numbers[::20]
    ]
    names = ",".join(f"leaf{at}" for at in numbers[::20])
    (folder / "topology.conf").write_text("".join(leaves) + f"SwitchName=top Switches={names}\n")


def main() -> None:
    """One row for each size, the best of a few runs."""
    sizes = [int(text) for text in sys.argv[1:]] or SIZES
    print("  nodes  release      CPU s  seconds  peak MB")
    for nodes in sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, nodes)
            for told, options in (("24.11", ["--release", "24.11"]), ("any", [])):
                runs = [slurmwright("lint", str(folder), *options) for _ in range(RUNS)]
                run = min(runs, key=lambda one: one.cpu)
                print(f"{nodes:>7}  {told:>7} {run.cpu:>10.2f} {run.seconds:>8.2f} {run.peak_mb:>8.0f}")


if __name__ == "__main__":
    main()
