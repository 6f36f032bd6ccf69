"""OP009: a key that is set twice, where Slurm takes one value only."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import Setting
from slurmwright.conf.values import RECORD_KEYS
from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, WARNING, Fault, rule


@rule(
    "OP009",
    "keys-set-twice",
    WARNING,
    by_release=True,
    why="""Slurm takes the last value and logs an error for the others. The line that people find first is
        often not the one that counts.""",
    fix="remove all lines of the key but one",
    references=(
        "Slurm source, src/common/parse_config.c: specified more than once, latest value used",
        "https://slurm.schedmd.com/slurm.conf.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for key in seen.keys:
        if key.section != "global" or key.places < 2 or key.option is None or key.file == "gres.conf":
            continue
        if key.option.type_in(seen.release) == "lines" or key.first.pair.key.lower() in RECORD_KEYS:
            continue
        tree = config.tree(key.file)
        lines = tree.all(key.first.pair.key) if tree else ()
        if len(lines) < 2:
            continue
        last, before = (Setting(line.doc, line.statement.pairs[0]) for line in (lines[-1], lines[-2]))
        same = all(line.statement.pairs[0].value == last.value for line in lines)
        yield Fault(
            f"{last.pair.key}={last.value} counts, and line {before.line} of {before.doc.file} says "
            f"{before.pair.key}={before.value}",
            at(last),
            severity=INFO if same else None,
            about=key.option.name,
        )
