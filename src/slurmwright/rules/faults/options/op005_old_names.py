"""OP005: an old name of a key that still works."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, Fault, rule


@rule(
    "OP005",
    "old-names-of-keys",
    INFO,
    why="""The old name still works and the manual does not tell it any more; tools that look for the
        present name do not find it.""",
    fix="the present name of the key",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html",
        "Slurm source, src/common/read_config.c and cgroup.c, every tag from 22.05.0 to 26.05.3",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for key in seen.keys:
        option = key.option
        if option is not None and option.write == "avoid":
            yield Fault(
                f"{option.key} is an old name: {option.note or 'see the manual'}{key.more}", at(key.first)
            )
