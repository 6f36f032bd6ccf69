"""OP003: a key that parses and then stops the daemon, or makes it complain at each start."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.lifetime import span_covers
from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "OP003",
    "keys-that-stop-daemons",
    ERROR,
    by_release=True,
    why="""These keys were removed in a way of their own: the parser still knows them, and slurmctld or
        slurmd then ends with "has been removed", or logs an error and drops them.""",
    fix="remove the line, or what the message names in its place",
    references=(
        "Seen with 22.05.8, 24.11.5 and 26.05.5: Support for … option has been removed",
        "Slurm source, src/common/read_config.c and cgroup.c, every tag from 22.05.0 to 26.05.3",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for key in seen.keys:
        option = key.option
        if option is None or not option.known_in(seen.release):
            continue
        told = [text for span, text in option.behaviour.items() if span_covers(span, seen.release)]
        stops = next((text for text in told if "fatal" in text), None)
        if stops and option.write == "never":
            yield Fault(f"{option.key} is removed from Slurm: {stops}", at(key.first), about=option.name)
