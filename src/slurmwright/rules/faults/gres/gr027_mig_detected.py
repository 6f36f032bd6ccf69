"""GR027: MIG instances by hand beside a detection that finds them, or cannot."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "GR027",
    "mig-lines-beside-autodetect",
    WARNING,
    why="""Hand-written MIG instances (MultipleFiles=) are compared with what AutoDetect finds, which is not
        supported for MIG: instances are dropped, or counted under two types. AutoDetect=nvidia does not
        know MIG at all.""",
    fix="AutoDetect=off for these nodes, or AutoDetect=nvml with Gres=gpu:1g.10gb:7 and no lines",
    references=(
        "https://slurm.schedmd.com/gres.html (MIG)",
        "https://slurm.schedmd.com/gres.conf.html (MultipleFiles)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for line in config.gres_lines:
        if line.name != "gpu" or not line.many_files:
            continue
        names = line.nodes if line.nodes is not None else tuple(config.node_index)
        found = line.autodetect if line.autodetect else config.detects(names[0]) if names else ""
        if found and found != "off":
            yield Fault(
                f"MultipleFiles= beside AutoDetect={found}, which is not supported for MIG", line.place
            )
