"""SE010: more memory is reserved than a node has."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "SE010",
    "reserved-memory-dropped",
    WARNING,
    why="""MemSpecLimit keeps memory for the system. As large as RealMemory or larger it is reset to 0 with
        an error in the log, and jobs take all memory.""",
    fix="MemSpecLimit= below RealMemory",
    references=("Slurm source, src/common/read_config.c: MemSpecLimit is invalid, reset to 0",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for node in seen.config.nodes:
        kept, memory = node.number("MemSpecLimit"), node.number("RealMemory") or 1
        if kept and kept >= memory:
            yield Fault(
                f"{node.written}: MemSpecLimit={kept} is not below RealMemory={memory}, so it is reset to 0",
                node.line_of("MemSpecLimit"),
                about=node.written,
            )
