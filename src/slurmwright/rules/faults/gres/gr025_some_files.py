"""GR025: some devices of one name have a file and others have none."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR025",
    "file-on-some-lines",
    ERROR,
    why="""Of one name either every line of a node has File= or none has: otherwise slurmd ends with "some
        records have File specification while others do not".""",
    fix="give every line of this name its File=",
    references=("Slurm source, src/interfaces/gres.c: _foreach_gres_conf",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    told: set[int] = set()
    for _, lines, names in seen.config.gres_groups:
        for name in {line.name for line in lines if line.name}:
            mine = [line for line in lines if line.name == name]
            bare = [line for line in mine if not line.has("File", "Files", "MultipleFiles")]
            if bare and len(bare) < len(mine) and bare[0].order not in told:
                told.add(bare[0].order)
                yield Fault(
                    f"of {names[0]} this {name} line has no File= and others have; slurmd does not start",
                    bare[0].place,
                )
