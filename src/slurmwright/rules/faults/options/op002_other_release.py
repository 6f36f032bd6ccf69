"""OP002: a key that came later than this release, or went before it."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.release import SERIES
from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, INFO, Fault, rule


@rule(
    "OP002",
    "keys-of-other-releases",
    ERROR,
    by_release=True,
    why="""A key that the release does not have yet, or no longer, is an unknown key: the daemons that read
        the file do not start. That is why an upgrade begins with reading the files.""",
    fix="remove the line, or what the message names in its place",
    references=(
        "Seen with 22.05.8, 24.11.5 and 26.05.5: Parsing error at unrecognized key",
        "Slurm source, src/common/read_config.c and cgroup.c, every tag from 22.05.0 to 26.05.3",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    release = seen.release
    for key in seen.keys:
        option = key.option
        if option is None:
            continue
        why = option.why_not(release)
        if why is None and seen.asked and option.since == SERIES[0]:
            why = f"came with Slurm {SERIES[0]} and is not known to {seen.asked}"
        if why is None:
            continue
        patch = (
            release.patch is None
            and option.since is not None
            and option.since.startswith(f"{release.series}.")
        )
        instead = f"; use {option.replacement}" if option.replacement else ""
        yield Fault(
            f"{option.key} {why}{instead}{key.more}",
            at(key.first),
            fix=f"use {option.replacement}" if option.replacement else "",
            severity=INFO if patch else None,
            about=option.name,
        )
