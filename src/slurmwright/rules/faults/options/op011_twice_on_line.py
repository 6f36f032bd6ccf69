"""OP011: a key that stands twice on one line."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.config import PLAIN_FILES
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.keys_seen import repeated
from slurmwright.rules.rule import WARNING, Fault, Place, rule


@rule(
    "OP011",
    "keys-twice-on-a-line",
    WARNING,
    why="""Of two equal keys on one line the last counts; the other one, which the eye meets first, says
        something that does not hold.""",
    fix="remove one of the two",
    references=("Slurm source, src/common/parse_config.c", "https://slurm.schedmd.com/slurm.conf.html"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for name in PLAIN_FILES:
        tree = seen.config.tree(name)
        for line in tree.lines if tree else ():
            if len(line.statement.pairs) < 2:
                continue
            for first, last in repeated(line):
                if first.value != last.value:
                    yield Fault(
                        f"{last.key}={last.value} counts, and {first.key}={first.value} stands before it",
                        Place(line.doc.file, last.line),
                        about=last.key.lower(),
                    )
