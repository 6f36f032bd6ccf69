"""GR011: several records of one name that nothing tells apart."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR011",
    "duplicate-bare-records",
    ERROR,
    why="""Two lines of one name with neither File= nor Type= cannot be told apart: slurmd ends with
        "gres.conf duplicate records". With AutoDetect no line for each GPU is needed at all.""",
    fix="keep one line, or AutoDetect= alone",
    references=(
        "https://github.com/ComputeCanada/puppet-magic_castle/issues/27",
        "Seen with slurmd -G of 24.11.5 and 26.05.5: gres.conf duplicate records for gpu",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    told: set[int] = set()
    groups = [lines for _, lines, _ in config.gres_groups] or [config.gres_lines]
    for lines in groups:
        for name in {line.name for line in lines if line.name}:
            mine = [line for line in lines if line.name == name]
            if any(line.type or line.has("File", "Files", "MultipleFiles") for line in mine) or len(mine) < 2:
                continue
            if mine[1].order not in told:
                told.add(mine[1].order)
                yield Fault(
                    f"a duplicate of line {mine[0].place.line}: both are {name} with neither File= nor "
                    "Type=; slurmd "
                    "does not start",
                    mine[1].place,
                    about=name,
                )
