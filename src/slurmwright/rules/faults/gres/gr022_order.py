"""GR022: device files out of order."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "GR022",
    "devices-out-of-order",
    WARNING,
    why="""The place of a device in the list is its index: Slurm numbers GPUs by it, and
        CUDA_VISIBLE_DEVICES holds that number. Files that do not rise give jobs other GPUs than the ones
        their cgroup opens.""",
    fix="File= in rising order, for example /dev/nvidia[0-3]",
    references=("https://slurm.schedmd.com/gres.conf.html (File: increasing numeric order)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for line in seen.config.gres_lines:
        found = [int(match[1]) for path in line.files if (match := re.search(r"(\d{1,9})\Z", path))]
        if line.name == "gpu" and found != sorted(found):
            yield Fault(f"File={line.text('File', 'Files')} does not rise", line.place)
