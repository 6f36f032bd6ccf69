"""SE004: jobs are fenced and their tasks float over all cores of the step."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Repair, rule


@rule(
    "SE004",
    "tasks-nobody-binds",
    WARNING,
    why="""task/cgroup fences a job; it binds no task to cores. Without task/affinity --cpu-bind does
        nothing, and each task of a step floats over all cores of the step, away from its GPU and its
        memory.""",
    fix="TaskPlugin=task/cgroup,task/affinity",
    references=("https://slurm.schedmd.com/slurm.conf.html (TaskPlugin)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    words = config.task_plugins
    if not words or "task/cgroup" not in words or any("affinity" in word for word in words):
        return
    found = config.setting("TaskPlugin")
    wanted = ",".join([*(word for word in words if word != "task/none"), "task/affinity"])
    yield Fault(
        f"TaskPlugin={config.value('TaskPlugin')} binds no task to cores; task/affinity does",
        config.place("TaskPlugin"),
        fix=f"TaskPlugin={wanted}",
        repair=Repair(found.doc, changes.set_key(found.doc, "TaskPlugin", wanted)) if found else None,
    )
