"""Times whole `slurmwright doctor --from` processes on hosts with long logs, one row for each size.

python benchmarks/doctor.py [MEGABYTES ...]. Each of three hosts has a slurmd.log and a journal of that size
together, made in a temporary folder: lines of a slurmd that does well, at the end one that is fatal.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from process import Run, slurmwright

SIZES, HOSTS = (10, 100, 1_000), 3
CLEAN = (
    "[2026-11-02T10:00:00.{n:03}] launch task StepId={n}.0 request from UID:1001 GID:1001 HOST:10.20.0.11\n"
    "[2026-11-02T10:00:00.{n:03}] task/affinity: batch_bind: job {n} CPU input mask for node: 0xFFFF\n"
    "[2026-11-02T10:00:01.{n:03}] [{n}.0] done with step\n"
)
FATAL = "[2026-11-02T11:00:00.000] fatal: can't stat gres.conf file /dev/nvidia7: No such file or directory\n"


def write(folder: Path, megabytes: int) -> None:
    """The hosts' folders."""
    part = "".join(CLEAN.format(n=n) for n in range(1000)).encode()
    for host in range(1, HOSTS + 1):
        own = folder / f"gpu{host:03}"
        own.mkdir()
        for name, last in (("slurmd.log", FATAL), ("journal.txt", "")):
            with (own / name).open("wb") as out:
                for _ in range(megabytes * 500_000 // len(part) + 1):
                    out.write(part)
                out.write(last.encode())


def measure(folder: Path) -> Run:
    """One reading, which has to find the planted cause."""
    run = slurmwright("doctor", "--from", str(folder), "--format", "json", codes=(1,))
    if [one["host"] for one in json.loads(run.output)["findings"]] != [f"gpu[001-{HOSTS:03}]"]:
        sys.exit(f"the planted cause was not found: {run.output}")
    return run


def main() -> None:
    """One row for each size."""
    print("hosts  MB each      CPU s  seconds  peak MB")
    for size in [int(text) for text in sys.argv[1:]] or SIZES:
        with tempfile.TemporaryDirectory() as name:
            write(Path(name), size)
            run = measure(Path(name))
        print(f"{HOSTS:>5} {size:>8} {run.cpu:>10.2f} {run.seconds:>8.2f} {run.peak_mb:>8.0f}")


if __name__ == "__main__":
    main()
