"""Times whole rehearsals with the Slurm root cached, phase by phase.

As root: python benchmarks/rehearse.py [EXAMPLE ...] [RELEASE ...]. The phases are those that `slurmwright
rehearse` shows while it works; `start` is all before the first slurmd, `slurmd` their starts, `registered`
the wait for the last of them. A rehearsal that is not clean is marked, since its times say little.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.core.run import Local
from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes, expected_units
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import cache_folder, ensure_root, slurm_version
from slurmwright.rehearse.values import Rehearsal
from slurmwright.render import render

INVENTORIES = Path(__file__).parents[1] / "inventories"
EXAMPLES = ("dgx-h100-64n", "scale-1000n")
RELEASES = ("22.05", "24.11", "26.05")
#: Column of the table → how the progress of a rehearsal names it.
PHASES = {
    "start": ("laying out", "starting MariaDB"),
    "slurmd": ("starting slurmd",),
    "registered": ("nodes registering",),
    "gpu-locality": ("scenario gpu-locality",),
    "gpus-each-once": ("scenario gpus-each-once",),
    "placement": ("scenario placement",),
    "whole-cluster": ("scenario whole-cluster",),
    "accounting": ("scenario accounting",),
    "logs-clean": ("scenario logs-clean",),
}


def measure(example: str, series: str) -> tuple[Rehearsal, dict[str, float], float]:
    """The result, the seconds of each phase, and of the whole."""
    root = ensure_root(series, cache_folder(), Local(), print)
    begun = time.monotonic()
    marks: list[tuple[str, float]] = []

    def progress(what: str, _done: int, _total: int) -> None:
        if not marks or marks[-1][0] != what:
            marks.append((what, time.monotonic()))

    cluster = load_cluster(INVENTORIES / example, Release(series))
    facts = load_facts(INVENTORIES / example)
    result = rehearse(
        render(cluster, facts),
        (),
        expected_nodes(cluster, facts),
        SlurmRoot(root),
        slurm_version(root),
        progress,
        units=expected_units(cluster),
    )
    end = time.monotonic()
    ends = [at for _, at in marks[1:]] + [end]
    seconds = dict.fromkeys(PHASES, 0.0)
    for (what, at), until in zip(marks, ends, strict=True):
        column = next(name for name, starts in PHASES.items() if what.startswith(starts))
        seconds[column] += until - at
    return result, seconds, end - begun


def main(words: list[str]) -> None:
    releases = [word for word in words if word in RELEASES] or list(RELEASES)
    examples = [word for word in words if word not in RELEASES] or list(EXAMPLES)
    print(f"{'example':<14} {'release':>7} {'nodes':>5} " + " ".join(PHASES) + "   total  clean")
    for example in examples:
        for series in releases:
            try:
                result, seconds, total = measure(example, series)
            except InputError as error:
                print(f"{example:<14} {series:>7}  not possible: {error}", flush=True)
                continue
            cells = " ".join(f"{seconds[name]:>{len(name)}.1f}" for name in PHASES)
            row = f"{example:<14} {series:>7} {result.nodes.idle:>5} {cells} {total:>7.1f}"
            print(f"{row}  {'yes' if result.passed else 'no'}", flush=True)
            for verdict in result.scenarios:
                for line in verdict.evidence if verdict.failed else ():
                    print(f"    {verdict.name}: {line[:300]}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
