"""CG001: GPUs are there and cgroup.conf does not confine jobs to their own."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import CRITICAL, Fault, Repair, rule


@rule(
    "CG001",
    "gpus-unconstrained",
    CRITICAL,
    why="""Without ConstrainDevices=yes (the default is no) a job can open every /dev/nvidiaN of its node:
        only CUDA_VISIBLE_DEVICES hides the GPUs of others, and any program, container or shell can unset
        that. Jobs then share GPUs in silence.""",
    fix="ConstrainDevices=yes",
    references=(
        "https://github.com/NVIDIA/pyxis/issues/47",
        "https://slurm.schedmd.com/cgroup.conf.html (ConstrainDevices)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    cgroup = config.cgroup
    if cgroup is None or not config.has_gpus or config.truth("ConstrainDevices", "cgroup.conf"):
        return
    was = config.value("ConstrainDevices", file="cgroup.conf")
    text = f"ConstrainDevices={was}" if was else "cgroup.conf does not set ConstrainDevices=yes"
    repair = Repair(cgroup.top, changes.set_key(cgroup.top, "ConstrainDevices", "yes"))
    yield Fault(
        f"{text}, so a job can open the GPUs of other jobs on its node",
        config.place("ConstrainDevices", "cgroup.conf"),
        repair=repair,
    )
