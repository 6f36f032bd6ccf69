"""GR005: Count= and the number of device files differ."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR005",
    "count-unlike-files",
    ERROR,
    why="""Each file of File= is one device, and a Count that says otherwise ends slurmd with "count does
        not match File value". Only MPS and shard have several on one file.""",
    fix="remove Count=; it follows from File=",
    references=("Seen with slurmd -G of 24.11.5 and 26.05.5", "Slurm source, src/interfaces/gres.c"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for line in seen.config.gres_lines:
        text = line.text("Count")
        if not text.isdigit() or len(text) > 9 or not line.files or line.name in ("mps", "shard"):
            continue
        if int(text) != len(line.files):
            yield Fault(
                f"Count={text} and File={line.text('File', 'Files')} ({len(line.files)} devices) do not "
                "agree; slurmd "
                "does not start",
                line.place,
            )
