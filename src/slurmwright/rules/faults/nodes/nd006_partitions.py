"""ND006: a partition on two lines, or two partitions that are the default."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, WARNING, Fault, rule


@rule(
    "ND006",
    "partitions-defined-twice",
    ERROR,
    why="""A second line of one partition ends slurmctld with "duplicate entry for partition". Of several
        with Default=YES the last one is the default.""",
    fix="one line for each partition, and Default=YES on one of them",
    references=(
        "Slurm source, src/slurmctld/read_config.c: duplicate entry for partition, changing default "
        "partition",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    first: dict[str, int] = {}
    default = ""
    for part in seen.config.partitions:
        line = first.setdefault(part.name, part.place.line)
        if line != part.place.line:
            yield Fault(
                f"partition {part.name} is on line {line} already; slurmctld does not start",
                part.place,
                about=part.name,
            )
        if part.text("Default").upper() in ("YES", "UP", "TRUE", "1"):
            if default and default != part.name:
                yield Fault(
                    f"{part.name} is the default partition, and not {default}, which says Default=YES "
                    "before it",
                    part.line_of("Default"),
                    severity=WARNING,
                    about="default",
                )
            default = part.name
