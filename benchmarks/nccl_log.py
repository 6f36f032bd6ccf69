"""Times whole `slurmwright nccl log` processes on a log of 64 ranks, and prints one row for each size.

python benchmarks/nccl_log.py [MEGABYTES ...]. The log is made in a temporary file: lines of NCCL_DEBUG=INFO
of a job that does well, at the end one rank that fails, and what the others say then.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from process import Run, slurmwright

SIZES = (20, 200, 2_000)
CLEAN = (
    "{h}:{p}:{p} [{g}] NCCL INFO Channel {c:02d}/0 : {r}[{g}] -> {o}[{g}] [send] via NET/IB/{g}/GDRDMA\n"
    "{h}:{p}:{p} [{g}] NCCL INFO Channel {c:02d}/0 : {r}[{g}] -> {n}[{k}] via P2P/CUMEM/read\n"
    "{h}:{p}:{p} [{g}] NCCL INFO AllReduce: opCount {c:x} sendbuff 0x7f0e9c000000 recvbuff 0x7f0e9c000000 "
    "count 33554432 datatype 7 op 0 root 0 comm 0x5581f0 [nranks=64] stream 0x5581a0\n"
)
CAUSE = (
    "gpu005:4005:4105 [5] transport/net_ib.cc:94 NCCL WARN NET/IB : mlx5_6:1 Got async event : port error\n"
)
AFTER = (
    "gpu{:03}:40:41 [0] misc/socket.cc:58 NCCL WARN socketProgress: Connection closed by remote peer x<5>\n"
)


def write(file: Path, megabytes: int) -> None:
    """A log of that size."""
    part = "".join(
        CLEAN.format(
            h=f"gpu{r // 8 + 1:03}", p=4000 + r, g=r % 8, c=c, r=r, o=(r + 8) % 64, n=r ^ 1, k=(r ^ 1) % 8
        )
        for c in range(40)
        for r in range(64)
    ).encode()
    with file.open("wb") as out:
        for _ in range(megabytes * 1_000_000 // len(part) + 1):
            out.write(part)
        out.write(CAUSE.encode() + "".join(AFTER.format(host) for host in range(1, 9)).encode())


def measure(file: Path) -> Run:
    """One reading, which has to find the planted cause."""
    run = slurmwright("nccl", "log", str(file), "--format", "json", codes=(1,))
    if json.loads(run.output)["first"]["nic"] != "mlx5_6:1":
        sys.exit(f"the planted cause was not found: {run.output}")
    return run


def main() -> None:
    """One row for each size."""
    print("     MB      CPU s  seconds  peak MB")
    for size in [int(text) for text in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "job.log"
            write(file, size)
            run = measure(file)
        print(f"{size:>7} {run.cpu:>10.2f} {run.seconds:>8.2f} {run.peak_mb:>8.0f}")


if __name__ == "__main__":
    main()
