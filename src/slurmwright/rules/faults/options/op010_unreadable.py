"""OP010: a line that Slurm cannot read."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.config import PLAIN_FILES
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, rule


@rule(
    "OP010",
    "lines-slurm-cannot-read",
    ERROR,
    why="""Slurm's files are KEY=VALUE, one key on a line or one record. At anything else slurmctld, slurmd
        and every command stop with "Parse error in file".""",
    fix="KEY=VALUE; double quotes round a value with blanks",
    references=(
        "Seen with slurmctld 22.05.8, 24.11.5 and 26.05.5: Parse error in file",
        "Slurm source, src/common/parse_config.c",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for name in PLAIN_FILES:
        tree = seen.config.tree(name)
        for doc in tree.documents if tree else ():
            for problem in doc.problems:
                yield Fault(problem.message, Place(problem.file, problem.line), about=problem.message)
