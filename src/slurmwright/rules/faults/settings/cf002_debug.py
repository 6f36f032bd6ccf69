"""CF002: log levels that fill disks, or in the old spelling."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, Fault, rule


@rule(
    "CF002",
    "log-levels-for-a-hunt",
    INFO,
    why="""debug3 and higher write a line for every message: on a large cluster slurmctld becomes slow by it
        and the disk full. Numbers are the old spelling of the levels.""",
    fix="SlurmctldDebug=info",
    references=("https://slurm.schedmd.com/slurm.conf.html (SlurmctldDebug)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for key in ("SlurmctldDebug", "SlurmdDebug"):
        level = config.value(key).lower()
        if level.isdigit():
            yield Fault(f"{key}={level} is the old spelling of a level", config.place(key), about=key)
        elif level in ("debug3", "debug4", "debug5"):
            yield Fault(f"{key}={level} is for a hunt, not for every day", config.place(key), about=key)
