"""ND008: a slurm.conf without a controller or a cluster name."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, rule


@rule(
    "ND008",
    "clusters-without-a-head",
    ERROR,
    why="""Without SlurmctldHost nobody knows where to ask, and without ClusterName no daemon starts.""",
    fix="ClusterName=NAME and SlurmctldHost=HOST",
    references=(
        "Slurm source, src/common/read_config.c: No SlurmctldHost defined, ClusterName needs to be specified",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    tree = seen.config.slurm
    # A part of a configuration, included from elsewhere, has neither.
    if tree is None or tree.faults or not (seen.whole or tree.all("NodeName")):
        return
    if not tree.all("ClusterName"):
        yield Fault("ClusterName is not set; no daemon starts", Place(tree.top.file), about="name")
    if not tree.all("SlurmctldHost") and not tree.all("ControlMachine"):
        yield Fault("SlurmctldHost is not set; no daemon starts", Place(tree.top.file), about="host")
