"""OP004: a key that parses and does nothing."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.lifetime import span_covers
from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "OP004",
    "keys-without-effect",
    WARNING,
    by_release=True,
    why="""The value is dropped, at best with a line in the log. Whoever reads the file believes that the
        setting holds.""",
    fix="remove the line",
    references=(
        "Seen with 22.05.8, 24.11.5 and 26.05.5: option is obsolete, option is defunct",
        "Slurm source, src/common/read_config.c and cgroup.c, every tag from 22.05.0 to 26.05.3",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    release = seen.release
    for key in seen.keys:
        option = key.option
        if option is None or not option.known_in(release):
            continue
        told = [text for span, text in option.behaviour.items() if span_covers(span, release)]
        if any("fatal" in text for text in told):
            continue
        unread = bool(option.never_read and span_covers(option.never_read, release))
        gone = bool(option.defunct and release.at_least(option.defunct))
        obsolete = (
            option.write == "never" and not option.defunct and not option.until and not option.never_read
        )
        past = option.write_until is not None and not release.at_most(option.write_until)
        if unread or gone or obsolete or past:
            why = option.note or "; ".join(told) or "it is not read any more"
            yield Fault(f"{option.key} has no effect: {why}", at(key.first), about=option.name)
