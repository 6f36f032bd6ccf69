"""GR006: some devices of one name have a type and others have none."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR006",
    "type-on-some-lines",
    ERROR,
    why="""Of one node either every GPU has a type or none has. Otherwise slurmd ends with "Some gpu GRES in
        slurm.conf have a type while others do not", or with the same about Type= in gres.conf; slurmctld
        says nothing.""",
    fix="give every GPU of the node a type, in slurm.conf and in gres.conf, or none",
    references=(
        "Seen with slurmd 22.05.8, 24.11.5 and 26.05.5",
        "Slurm source, src/interfaces/gres.c: _foreach_slurm_conf, _foreach_gres_conf",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for node in config.nodes:
        for name in {one.name for one in node.gres}:
            found = node.gres_named(name)
            typed = [one.written for one in found if one.type]
            bare = [one.written for one in found if not one.type]
            if typed and bare:
                yield Fault(
                    f"Gres= of {node.written} has {', '.join(typed)} with a type and {', '.join(bare)} "
                    "without one; "
                    "slurmd does not start",
                    node.line_of("Gres"),
                    about=name,
                )
    told: set[int] = set()
    for _, lines, names in config.gres_groups:
        for name in {line.name for line in lines if line.name}:
            typed_lines = [line for line in lines if line.name == name and line.type]
            bare_lines = [line for line in lines if line.name == name and not line.type]
            if typed_lines and bare_lines and bare_lines[0].order not in told:
                told.add(bare_lines[0].order)
                yield Fault(
                    f"of {names[0]} this {name} line has no Type= and line {typed_lines[0].place.line} has "
                    f"Type={typed_lines[0].type}; slurmd does not start",
                    bare_lines[0].place,
                    about=name,
                )
