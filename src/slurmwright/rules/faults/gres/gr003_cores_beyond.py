"""GR003: Cores= names cores that the node does not have, mostly CPU ids of nvidia-smi."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.gres_lines import fold_numbers
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR003",
    "cores-the-node-lacks",
    ERROR,
    why="""Cores= takes Slurm's logical core indexes, 0 to Sockets x CoresPerSocket - 1. The CPU affinity that
        nvidia-smi topo -m prints counts hardware threads, so with SMT half of its numbers are no cores at
        all. Up to 24.05 slurmd goes on without any binding; from 24.11 the node becomes INVAL with "invalid
        GRES core specification".""",
    fix="Cores= with core indexes as lstopo -l shows them (Core L#), without thread siblings",
    references=(
        "https://github.com/NVIDIA/deepops/issues/1195",
        "Seen with slurmctld and slurmd 22.05.8, 24.11.5 and 26.05.5",
        "https://slurm.schedmd.com/gres.conf.html (Cores)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for line in config.gres_lines:
        for node in config.readers(line) if line.cores else ():
            shape = node.shape
            if shape is None or not line.cores or line.cores[-1] < shape.all_cores:
                continue
            fix = ""
            if line.cores[-1] < shape.all_cores * max(shape.threads, 2):
                real = tuple(sorted({core % shape.all_cores for core in line.cores}))
                fix = f"Cores={fold_numbers(real)}"
            yield Fault(
                f"Cores={line.text('Cores', 'CPUs')} goes up to {line.cores[-1]}, and {node.written} has "
                "the cores "
                f"0 to {shape.all_cores - 1} ({shape.sockets} sockets of {shape.cores}): these are CPU ids "
                "of the "
                "operating system, not Slurm's cores",
                line.place,
                fix=fix,
            )
            break
