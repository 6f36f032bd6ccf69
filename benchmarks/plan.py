"""Times whole `slurmwright plan` processes, interpreter start and rendering included, for a one-node change.

`make bench`, or python benchmarks/plan.py [NODES ...]. The rendered bundle lies in a folder; one node of
cluster.yaml then gets another weight. Hosts are those that the plan contacts, beside all that a run of the
whole playbook would.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from process import slurmwright

SIZES = (100, 1_000, 10_000)
RUNS = 3
CLUSTER = """\
name: bench
slurm: {{release: "24.11"}}
control: {{controllers: [ctl1, ctl2], state_dir: /shared/slurm, database: db1, login: [login1]}}
nodes:
  - {{hosts: "gpu[00001-{last:05d}]", type: dgx-h100, racks: {{size: 4}}, features: [h100]}}
{more}topology: tree
partitions:
  - {{name: train, nodes: all, default: true, max_time: 7-00:00:00}}
  - {{name: debug, nodes: {{hosts: "gpu[00001-00002]"}}, max_time: 60}}
"""
ONE = '  - {{hosts: "gpu{node:05d}", type: dgx-h100, racks: {{size: 4}}, features: [h100]{extra}}}\n'


def cluster(nodes: int, extra: str) -> str:
    """A cluster whose last node stands by itself, with `extra` words."""
    return CLUSTER.format(last=nodes - 1, more=ONE.format(node=nodes, extra=extra))


def main(sizes: list[int]) -> None:
    print(f"{'nodes':>7}  {'seconds':>7}  {'peak MB':>7}  {'hosts':>6}  {'of':>6}   least of {RUNS} runs")
    with tempfile.TemporaryDirectory() as folder:
        for nodes in sizes:
            inventory, before = Path(folder) / str(nodes), Path(folder) / f"{nodes}-before"
            inventory.mkdir()
            file = inventory / "cluster.yaml"
            file.write_text(cluster(nodes, ""), encoding="utf-8")
            slurmwright("render", "-i", str(inventory), "-o", str(before))
            file.write_text(cluster(nodes, ", weight: 10"), encoding="utf-8")
            words = ("plan", "-i", str(inventory), "--against", str(before), "--format", "json")
            runs = [slurmwright(*words, codes=(0, 1)) for _ in range(RUNS)]
            document = json.loads(runs[0].output)
            seconds, peak = min(run.seconds for run in runs), min(run.peak_mb for run in runs)
            hosts = len(document["hosts_contacted"])
            print(f"{nodes:>7}  {seconds:>7.2f}  {peak:>7.1f}  {hosts:>6}  {nodes + 4:>6}", flush=True)


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or list(SIZES))
