"""GR026: cores are kept for GPUs whose cores nobody knows."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR026",
    "gpu-cores-unknown",
    ERROR,
    releases="24.05+",
    why="""RestrictedCoresPerGPU keeps cores near each GPU for GPU jobs, so Slurm must know which ones are
        near: from Cores= in gres.conf or from AutoDetect. Otherwise the node goes down with "gpus given
        don't have any topology".""",
    fix="Cores= on the gpu lines of gres.conf, or AutoDetect=nvml",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html (RestrictedCoresPerGPU)",
        "Slurm source, src/slurmctld",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.gres is None:
        return
    for node, lines, names in config.gres_groups:
        mine = [line for line in lines if line.name == "gpu"]
        known = config.detects(names[0]) or (mine and all(line.has("Cores", "CPUs") for line in mine))
        if node.number("RestrictedCoresPerGPU") and not known:
            yield Fault(
                f"{node.written} has RestrictedCoresPerGPU, and gres.conf tells no Cores= of its GPUs",
                node.line_of("RestrictedCoresPerGPU"),
                about=node.written,
            )
