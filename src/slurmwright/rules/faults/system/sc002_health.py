"""SC002: a health check that never runs, or longer than it may."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, WARNING, Fault, Repair, rule


@rule(
    "SC002",
    "health-check-never-runs",
    WARNING,
    why="""HealthCheckInterval is 0 by default, and then HealthCheckProgram never runs after the start of
        slurmd. An interval without a program does nothing either.""",
    fix="HealthCheckInterval=300",
    references=("https://slurm.schedmd.com/slurm.conf.html (HealthCheckInterval)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    interval = config.value("HealthCheckInterval", "0")
    program = config.setting("HealthCheckProgram")
    once = config.has("HealthCheckNodeState", "start_only") or config.has(
        "HealthCheckNodeState", "reboot_only"
    )
    if program and interval == "0" and not once:
        found = config.setting("HealthCheckInterval")
        doc = found.doc if found else program.doc
        yield Fault(
            "HealthCheckProgram is set and HealthCheckInterval is 0, so it never runs",
            config.place("HealthCheckProgram"),
            repair=Repair(doc, changes.set_key(doc, "HealthCheckInterval", "300")),
        )
    elif interval != "0" and not program:
        text = f"HealthCheckInterval={interval} and no HealthCheckProgram"
        yield Fault(text, config.place("HealthCheckInterval"), severity=INFO)
