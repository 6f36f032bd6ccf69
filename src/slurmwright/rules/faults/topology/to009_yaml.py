"""TO009: a topology.yaml that is no list of topologies."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.rules.topology_seen import yaml_fault


@rule(
    "TO009",
    "topology-yaml-broken",
    ERROR,
    releases="25.05+",
    why="""topology.yaml is a list; each entry has a name and exactly one of tree, block, flat, ring and
        torus3d. slurmctld does not start with anything else.""",
    fix="- topology: NAME, cluster_default: true, and one of tree, block, flat",
    references=("https://slurm.schedmd.com/topology.yaml.html", "Seen with slurmctld 25.11.2 and 26.05.5"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    fault = yaml_fault(seen.config)
    if fault is not None:
        yield Fault(f"topology.yaml {fault.message}", fault.place)
