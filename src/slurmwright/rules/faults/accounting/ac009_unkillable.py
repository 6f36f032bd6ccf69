"""AC009: slurmd gives up on a step sooner than it can know."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "AC009",
    "steps-given-up-early",
    WARNING,
    why="""UnkillableStepTimeout must be at least five times MessageTimeout: sooner slurmd cannot tell a
        lost message from a process that does not die, and nodes drain with "Kill task failed" for GPU jobs
        that only end slowly.""",
    fix="UnkillableStepTimeout=180",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html (UnkillableStepTimeout)",
        "Slurm source, src/common/read_config.c (24.05: error at start)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    limit, message = config.value("UnkillableStepTimeout", "60"), config.value("MessageTimeout", "10")
    if (
        not (limit.isascii() and limit.isdigit() and message.isascii() and message.isdigit())
        or len(limit + message) > 16
    ):
        return
    if int(limit) < 5 * int(message):
        key = "UnkillableStepTimeout" if config.setting("UnkillableStepTimeout") else "MessageTimeout"
        yield Fault(
            f"UnkillableStepTimeout is {limit} s, less than five times MessageTimeout ({message} s)",
            config.place(key),
            fix=f"UnkillableStepTimeout={max(180, 5 * int(message))}",
        )
