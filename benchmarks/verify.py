"""Counts and times the launches of `slurmwright verify` on all nodes of a rehearsed cluster.

As root: python benchmarks/verify.py [EXAMPLE ...] [RELEASE ...]. Every node of the example is a slurmd on
this machine, without cgroups, so the part of verify runs that needs none. `launches` counts sruns, sbatches
and sallocs; it depends on the node types only.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from slurmwright.core.release import Release
from slurmwright.core.run import Local
from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.rehearse import processes
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.cast import cast_of
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.roots import cache_folder, ensure_root, slurm_version
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.render import render
from slurmwright.verify.expect import ExpectedNode, expected_nodes
from slurmwright.verify.judge import Ground
from slurmwright.verify.run import verify
from slurmwright.verify.values import Report
from slurmwright.verify.wanted import Wanted

INVENTORIES = Path(__file__).parents[1] / "inventories"
EXAMPLES = ("dgx-h100-64n", "scale-1000n")
RELEASES = ("22.05", "24.11", "26.05")


def measure(example: str, series: str) -> tuple[Report, dict[str, float], int]:
    """The report, the seconds of each launch, and how many nodes were idle."""
    root = SlurmRoot(ensure_root(series, cache_folder(), Local(), print))
    version = slurm_version(root.folder)
    cluster = load_cluster(INVENTORIES / example, Release(series))
    facts = load_facts(INVENTORIES / example)
    expected = expected_nodes(cluster, facts)
    bundle, _ = adapt(render(cluster, facts), Release.parse(version), expected, "left out of this benchmark")
    with Sandbox() as sandbox:
        machine = Machine(sandbox, root, cast_of(bundle, expected))
        machine.build()
        machine.start_munge()
        _, count = processes._run(machine, Release.parse(version), lambda *_: None, False, ())
        report, seconds = _verified(machine, example, expected)
    return report, seconds, count.idle


def _verified(
    machine: Machine, example: str, expected: dict[str, ExpectedNode]
) -> tuple[Report, dict[str, float]]:
    marks: list[tuple[str, float]] = []
    wanted = Wanted(timeout=600, ssh=False)
    report = verify(
        example,
        expected,
        wanted,
        machine,
        Ground(confined=False),
        lambda what, *_: marks.append((what.partition(": ")[2], time.monotonic())),
    )
    ends = [at for _, at in marks[1:]] + [time.monotonic()]
    return report, {what: until - at for (what, at), until in zip(marks, ends, strict=True)}


def main(words: list[str]) -> None:
    releases = [word for word in words if word in RELEASES] or ["24.11"]
    examples = [word for word in words if word not in RELEASES] or list(EXAMPLES)
    print(f"{'example':<14} {'release':>7} {'nodes':>5} launches  seconds  failed  each launch, s")
    for example in examples:
        for series in releases:
            report, seconds, idle = measure(example, series)
            failed = sum(check.passed is False for check in report.checks)
            each = ", ".join(f"{name} {took:.1f}" for name, took in seconds.items())
            row = (
                f"{example:<14} {series:>7} {idle:>5} {report.launches:>8} {report.seconds:>8.1f} {failed:>7}"
            )
            print(f"{row}  {each}", flush=True)
            for check in report.checks:
                if check.passed is not True:
                    print(f"    {check.name} {check.nodes}: {check.skipped or check.evidence[0]}"[:300])


if __name__ == "__main__":
    main(sys.argv[1:])
