"""GR018: one device file counts twice on a node."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.gres_lines import GresLine
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR018",
    "devices-listed-twice",
    ERROR,
    why="""A device file stands for one device. Listed twice slurmd ends with "duplicate device file name";
        a GPU that is listed whole and again by its MIG instances is handed to two jobs at once.""",
    fix="each device file on one line of the node",
    references=(
        "Slurm source, src/interfaces/gres.c: duplicate device file name",
        "https://slurm.schedmd.com/gres.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    told: set[int] = set()
    for _, lines, _ in seen.config.gres_groups or ((None, seen.config.gres_lines, ("",)),):
        whole: dict[tuple[str, str], GresLine] = {}
        for line in lines:
            for path in line.files:
                before = whole.setdefault((line.name, path), line)
                if before is not line and line.order not in told:
                    told.add(line.order)
                    yield Fault(
                        f"{path} stands on line {before.place.line} already; slurmd does not start",
                        line.place,
                    )
            if len(set(line.files)) < len(line.files) and line.order not in told:
                told.add(line.order)
                yield Fault("one device file stands twice on this line; slurmd does not start", line.place)
        for line in lines:
            split = next((path for path in line.many_files if (line.name, path) in whole), "")
            if split and line.order not in told:
                told.add(line.order)
                yield Fault(
                    f"{split} is whole on line {whole[line.name, split].place.line} and in parts here: two "
                    "jobs get "
                    "the same GPU",
                    line.place,
                )
