"""GR014: a number that was meant as a count stands where the type stands."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR014",
    "count-read-as-type",
    ERROR,
    why="""Gres=gpu:8:1 is one GPU of a type called "8". Only a number at the end is a count; the node then
        offers one GPU, under a type that nobody asks for.""",
    fix="Gres=gpu:8",
    references=("https://slurm.schedmd.com/slurm.conf.html (Gres)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for node in seen.config.nodes:
        for one in node.gres:
            # Types such as 4090 and 5090 are numbers; a node has no more than 16 GPUs.
            if one.type.isdigit() and len(one.type) < 3 and int(one.type) <= 16:
                yield Fault(
                    f'{one.written} of {node.written} is {one.number} {one.name} of the type "{one.type}"',
                    node.line_of("Gres"),
                    fix=f"Gres={one.name}:{one.type}",
                    about=one.written,
                )
