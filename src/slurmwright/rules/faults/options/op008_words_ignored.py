"""OP008: a word that Slurm passes over in silence."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule
from slurmwright.rules.words_seen import words_at_fault


@rule(
    "OP008",
    "words-slurm-ignores",
    WARNING,
    by_release=True,
    why="""Most Parameters keys are searched for the words Slurm knows, and any other word is passed over
        without a line in the log: a typing error, or a word of another release, switches nothing on.""",
    fix="a word that the release knows",
    references=(
        "Slurm source: token comparisons of every tag from 22.05.0 to 26.05.3",
        "https://slurm.schedmd.com/slurm.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    yield from words_at_fault(seen, ("ignored",))
