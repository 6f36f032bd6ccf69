"""Times whole `slurmwright render` processes, interpreter start included, with and without facts of hosts.

`make bench`, or python benchmarks/render.py [NODES ...]. CPU is user and system time together, peak memory
that of the process (ru_maxrss). The memory of every host differs, so that no two files hold the same facts.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import yaml
from process import slurmwright

from slurmwright.catalogue.node_types import load_node_type
from slurmwright.model.facts import CpuFact, GpuFact, HostFacts, MemoryFact, NicFact, NumaFact
from slurmwright.model.facts_json import facts_text

SIZES = (100, 1_000, 10_000)
RUNS = 3
FORMS = ("none", "JSON", "YAML")
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


def write_inventory(folder: Path, nodes: int, form: str) -> None:
    """A cluster of that many nodes with facts in that form."""
    (folder / "facts").mkdir(parents=True)
    (folder / "cluster.yaml").write_text(CLUSTER.format(nodes=nodes), encoding="utf-8")
    for number in range(1, nodes + 1) if form != "none" else ():
        facts = facts_of(f"gpu{number:05d}", 2_050_000 + number)
        text = facts_text(facts) if form == "JSON" else yaml.safe_dump(facts.model_dump(exclude_none=True))
        (folder / f"facts/{facts.host}.{form.lower()}").write_text(text, encoding="utf-8")


def facts_of(host: str, memory_mb: int) -> HostFacts:
    """Everything that discovery would read from a DGX H100."""
    numa = tuple(
        NumaFact(id=at, socket=at, cpus=text) for at, text in enumerate(("0-55,112-167", "56-111,168-223"))
    )
    gpus = tuple(
        GpuFact(pci=str(gpu.pci), minor=gpu.index, numa=gpu.numa, model="NVIDIA H100 80GB HBM3", mig=())
        for gpu in load_node_type("dgx-h100").gpus
    )
    return HostFacts(
        format="slurmwright/facts/1",
        host=host,
        cpu=CpuFact(threads_per_core=2, numa=numa),
        memory=MemoryFact(real_memory_mb=memory_mb),
        gpus=gpus,
        nics=tuple(
            NicFact(name=f"mlx5_{at}", pci=f"0000:{at + 16:02x}:00.0", numa=at // 4) for at in range(8)
        ),
    )


def main(sizes: list[int]) -> None:
    print(f"{'nodes':>7}  {'facts':>5}  {'seconds':>7}  {'CPU':>6}  {'peak MB':>7}   least of {RUNS} runs")
    with tempfile.TemporaryDirectory() as folder:
        for form in FORMS:
            for nodes in sizes:
                inventory = Path(folder) / f"{form}-{nodes}"
                write_inventory(inventory, nodes, form)
                words = ("render", "-i", str(inventory), "-o", f"{folder}/out")
                runs = [slurmwright(*words) for _ in range(RUNS)]
                seconds, cpu = min(run.seconds for run in runs), min(run.cpu for run in runs)
                peak = min(run.peak_mb for run in runs)
                print(f"{nodes:>7}  {form:>5}  {seconds:>7.2f}  {cpu:>6.2f}  {peak:>7.1f}", flush=True)


if __name__ == "__main__":
    main([int(text) for text in sys.argv[1:]] or list(SIZES))
