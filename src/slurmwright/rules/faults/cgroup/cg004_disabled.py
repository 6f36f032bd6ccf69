"""CG004: the cgroup plugin is switched off on nodes with GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import CRITICAL, Fault, rule


@rule(
    "CG004",
    "cgroups-disabled",
    CRITICAL,
    releases="24.05+",
    why="""CgroupPlugin=disabled is meant for tests: no constraint is applied, whatever the Constrain keys
        say. With ConstrainDevices=yes beside it jobs even number their GPUs as if they were alone with
        them, so two jobs use the same ones.""",
    fix="CgroupPlugin=autodetect",
    references=(
        "https://slurm.schedmd.com/cgroup.conf.html (CgroupPlugin)",
        "Slurm source, src/interfaces/gres.c: gres_use_local_device_index",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.has_gpus and config.value("CgroupPlugin", file="cgroup.conf").lower() == "disabled":
        yield Fault(
            "CgroupPlugin=disabled applies no constraint: every job can open every GPU of its node",
            config.place("CgroupPlugin", "cgroup.conf"),
        )
