"""CG003: cgroup.conf asks for confinement and no task plugin applies it."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import CRITICAL, ERROR, Fault, Repair, rule

_KEYS = ("ConstrainDevices", "ConstrainCores", "ConstrainRAMSpace", "ConstrainSwapSpace")


@rule(
    "CG003",
    "constraints-nobody-applies",
    CRITICAL,
    why="""The Constrain keys of cgroup.conf are read by the plugin task/cgroup alone. With any other
        TaskPlugin, or none (the default), they are read by nobody and every job can open every GPU of its
        node.""",
    fix="TaskPlugin=task/cgroup,task/affinity",
    references=(
        "https://slurm.schedmd.com/cgroup.conf.html",
        "https://slurm.schedmd.com/slurm.conf.html (TaskPlugin)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    asked = [key for key in _KEYS if config.truth(key, "cgroup.conf")]
    if config.slurm is None or not asked or "task/cgroup" in config.task_plugins:
        return
    doc = config.slurm.top
    plugins = [word for word in config.task_plugins if "none" not in word]
    wanted = ",".join(["task/cgroup", *plugins]) if plugins else "task/cgroup,task/affinity"
    has = config.value("TaskPlugin")
    only_here = config.setting("TaskPlugin") is None or config.place("TaskPlugin").file == doc.file
    yield Fault(
        f"cgroup.conf sets {asked[0]}=yes, which only task/cgroup applies, and TaskPlugin is "
        f"{has or 'not set'}: nothing is confined",
        config.place("TaskPlugin"),
        fix=f"TaskPlugin={wanted}",
        severity=None if config.has_gpus else ERROR,
        repair=Repair(doc, changes.set_key(doc, "TaskPlugin", wanted)) if only_here else None,
    )
