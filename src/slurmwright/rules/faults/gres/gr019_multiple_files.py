"""GR019: MultipleFiles= used otherwise than for the several files of one device."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR019",
    "multiple-files-misused",
    ERROR,
    why="""MultipleFiles= is one device with several files, as a MIG instance has. Beside File=, or with one
        file only, it ends slurmd.""",
    fix="MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap21,/dev/nvidia-caps/nvidia-cap22",
    references=(
        "Slurm source, src/interfaces/gres.c: _parse_gres_config",
        "https://slurm.schedmd.com/gres.conf.html (MultipleFiles)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for line in seen.config.gres_lines:
        if not line.has("MultipleFiles"):
            continue
        if line.has("File", "Files"):
            yield Fault("File= and MultipleFiles= exclude each other; slurmd does not start", line.place)
        elif len(line.many_files) == 1:
            yield Fault("MultipleFiles= holds one file; slurmd does not start, use File=", line.place)
