"""SE006: cores are reserved in two ways, or more than a node has."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.gres_lines import numbers
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "SE006",
    "reserved-cores-dropped",
    WARNING,
    why="""CoreSpecCount beside CpuSpecList is reset to 0, one as large as the node to 1, and a CpuSpecList
        beyond the node's CPUs is ignored, each with an error in the log only: other cores are reserved than
        the line says.""",
    fix="CoreSpecCount= or CpuSpecList=, within the cores of the node",
    references=(
        "Slurm source, src/common/read_config.c: _parse_nodename",
        "https://slurm.schedmd.com/slurm.conf.html (CoreSpecCount)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for node in seen.config.nodes:
        count, listed = node.number("CoreSpecCount") or 0, node.text("CpuSpecList")
        shape = node.shape
        if count and listed:
            text = f"CoreSpecCount={count} beside CpuSpecList={listed} is reset to 0"
            yield Fault(f"{node.written}: {text}", node.line_of("CoreSpecCount"), about=node.written)
        elif count and shape and count >= shape.all_cores:
            text = f"CoreSpecCount={count} leaves none of {shape.all_cores} cores, so it is reset to 1"
            yield Fault(f"{node.written}: {text}", node.line_of("CoreSpecCount"), about=node.written)
        ids = numbers(listed) if listed else None
        cpus = node.number("CPUs", "Procs") or (shape and shape.all_cores * shape.threads) or 0
        if ids and cpus and ids[-1] >= cpus:
            text = f"CpuSpecList={listed} goes beyond the CPUs 0 to {cpus - 1} and is ignored"
            yield Fault(f"{node.written}: {text}", node.line_of("CpuSpecList"), about=f"{node.written} list")
