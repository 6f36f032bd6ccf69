"""OP007: a word that a key does not take, and that Slurm notices."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule
from slurmwright.rules.words_seen import words_at_fault


@rule(
    "OP007",
    "words-slurm-refuses",
    ERROR,
    by_release=True,
    why="""A plugin or flag that the release does not have ends the daemons at start, or is dropped with an
        error. What went with a release is missed on the day of the upgrade.""",
    fix="a word that the release knows",
    references=(
        "Slurm source: plugin folders and token comparisons of every tag from 22.05.0 to 26.05.3",
        "Seen with 24.11.5: Can't find plugin for select/cons_res",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    yield from words_at_fault(seen, ("fatal", "error"))
