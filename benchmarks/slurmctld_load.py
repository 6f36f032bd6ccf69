"""Times a real slurmctld from its start until it is primary, on our folded file and on one line per node.

As root: python benchmarks/slurmctld_load.py [RELEASE ...]. slurmctld parses slurm.conf before it opens its
log, so the clock starts with the process and stops at the time of its line "Running as primary controller".
CPU is what the process has used then. No slurmd runs; the rest of the start (state folder, plugins, munge) is
the same for both files.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from slurmwright.conf import Document, Statement, parse
from slurmwright.core.bundle import Bundle
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release
from slurmwright.core.run import Local
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.cast import cast_of, slurm_conf
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.roots import cache_folder, ensure_root, slurm_version
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.render import render

SIZES = (1_000, 10_000)
RELEASES = ("22.05", "24.11", "26.05")
RUNS = 3
LIMIT_S = 120
READY = re.compile(r"\[(\S+)\] Running as primary controller")
CLUSTER = """\
name: bench
slurm: {{release: "{series}"}}
control: {{controllers: [ctl1]}}
nodes:
  - {{hosts: "gpu[00001-{nodes:05d}]", type: dgx-h100, address: "10.20.[0-{last}].[1-250]"}}
partitions:
  - {{name: train, nodes: all, default: true}}
"""


@dataclass(frozen=True)
class Run:
    """What one start took."""

    seconds: float
    cpu: float
    peak_mb: float


def bundle_of(series: str, nodes: int) -> Bundle:
    text = CLUSTER.format(series=series, nodes=nodes, last=nodes // 250 - 1)
    return render(cluster_from(parse_yaml(text, "cluster.yaml")), {})


def one_line_per_node(bundle: Bundle) -> Bundle:
    """The same bundle with every node on a line of its own."""
    main = slurm_conf(bundle)
    doc = parse(main.text, main.path)
    lines = {s.start: "".join(_unfolded(doc, s)) for s in doc.lines("NodeName")}
    ends = {s.start: s.end for s in doc.lines("NodeName")}
    text, at = "", 0
    for start in sorted(lines):
        text += main.text[at:start] + lines[start]
        at = ends[start]
    whole = replace(main, text=text + main.text[at:])
    return replace(bundle, files=tuple(whole if file == main else file for file in bundle.files))


def _unfolded(doc: Document, statement: Statement) -> Iterator[str]:
    pairs = {pair.key: pair.value for pair in statement.pairs}
    names, addresses = expand(pairs.pop("NodeName")), expand(pairs.pop("NodeAddr"))
    rest = " ".join(f"{key}={value}" for key, value in pairs.items())
    for name, address in zip(names, addresses, strict=True):
        yield f"NodeName={name} NodeAddr={address} {rest}\n"


def measure(root: SlurmRoot, version: str, bundle: Bundle) -> list[Run]:
    """Several starts in one sandbox, each without saved state."""
    adapted, _ = adapt(bundle, Release.parse(version), {})
    with Sandbox() as sandbox:
        machine = Machine(sandbox, root, cast_of(adapted, {}))
        machine.build()
        machine.start_munge()
        return [_start(machine) for _ in range(RUNS)]


def _start(machine: Machine) -> Run:
    name = machine.cast.controllers[0]
    log = machine.cast.controller_log
    begun = machine.on_host(
        name, ["sh", "-c", f"rm -f {log}; date +%s.%N; exec slurmctld -c -L {log}"], limit_s=LIMIT_S
    )
    end = time.monotonic() + LIMIT_S
    while not (found := READY.search(machine.controller_log(name))):
        if time.monotonic() > end or not begun.ok:
            sys.exit(f"slurmctld did not come up: {begun.last_line} {machine.controller_log(name)[-500:]}")
        time.sleep(0.05)
    script = "p=$(cat /run/slurmctld.pid); cut -d' ' -f14,15 /proc/$p/stat; grep VmHWM /proc/$p/status"
    user, system, _, peak, _ = machine.on_host(name, ["sh", "-c", script]).out.split()
    ready = datetime.fromisoformat(found[1]).replace(tzinfo=timezone.utc).timestamp()
    run = Run(ready - float(begun.out.split()[0]), (int(user) + int(system)) / 100, int(peak) / 1024)
    machine.ctl("scontrol", "shutdown", "slurmctld")
    gone = "p=$(cat /run/slurmctld.pid 2>/dev/null) || exit 0; [ ! -d /proc/$p ]"
    while not machine.on_host(name, ["sh", "-c", gone]).ok and time.monotonic() < end:
        time.sleep(0.1)
    return run


def main(releases: list[str]) -> None:
    print(f"release   nodes          slurm.conf  seconds    CPU  peak MB  file KiB   least of {RUNS} starts")
    for series in releases:
        folder = ensure_root(series, cache_folder(), Local(), print)
        for nodes in SIZES:
            folded = bundle_of(series, nodes)
            for label, bundle in (("folded", folded), ("one line per node", one_line_per_node(folded))):
                runs = measure(SlurmRoot(folder), slurm_version(folder), bundle)
                seconds, cpu = min(run.seconds for run in runs), min(run.cpu for run in runs)
                peak, size = min(run.peak_mb for run in runs), len(slurm_conf(bundle).text) / 1024
                figures = f"{seconds:>7.2f}  {cpu:>5.2f}  {peak:>7.1f}  {size:>8.1f}"
                print(f"{series:>7}  {nodes:>6}  {label:>18}  {figures}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(RELEASES))
