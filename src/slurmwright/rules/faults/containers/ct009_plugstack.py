"""CT009: a line of plugstack.conf that Slurm cannot read."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.containers_seen import spank_lines
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "CT009",
    "spank-lines-unreadable",
    ERROR,
    why="""A line of plugstack.conf is required or optional, the path of a plugin and its arguments, or an
        include. At anything else the stack fails to load, and with it every srun and every job step.""",
    fix="required /usr/lib/x86_64-linux-gnu/slurm/spank_pyxis.so",
    references=("https://slurm.schedmd.com/spank.html", "Slurm source, src/common/plugstack.c"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for line in spank_lines(seen):
        if line.kind not in ("required", "optional"):
            yield Fault(f"'{line.kind[:40]}' is neither required, optional nor include", line.place)
        elif not line.plugin:
            yield Fault(f"{line.kind} names no plugin", line.place)
