"""GR013: Links= that is no list of one number for each GPU."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "GR013",
    "links-malformed",
    WARNING,
    why="""Links= is one number for each GPU of the node in their order, with -1 at its own place. What
        cannot be read is dropped or, as "Invalid GRES Links value", sets the node to INVAL; then GPUs are
        chosen as if there were no NVLink.""",
    fix="Links=-1,4,4,4 for the first of four GPUs; or leave Links out",
    references=(
        "https://slurm.schedmd.com/gres.conf.html (Links)",
        "Slurm source, src/interfaces/gres.c: gres_links_validate, _links_str2array",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    told: set[int] = set()
    for node, lines, _ in config.gres_groups or ((None, config.gres_lines, ("",)),):
        mine = [line for line in lines if line.name == "gpu"]
        total = sum(line.count for line in mine) if node else 0
        position = 0
        for line in mine:
            text = line.text("Links", "Link")
            problem = _problem(text, position, line.count, total) if text else ""
            position += line.count
            if problem and line.order not in told:
                told.add(line.order)
                yield Fault(f"Links={text} {problem}", line.place)


def _problem(text: str, position: int, devices: int, total: int) -> str:
    parts = text.split(",")
    if not all(part.strip().lstrip("-").isdigit() for part in parts):
        return "is not a list of numbers"
    if devices > 1:
        return f"stands on a line of {devices} devices; it needs a line for each"
    values = [int(part) for part in parts]
    if values.count(-1) != 1:
        return "has no -1 for the GPU itself" if -1 not in values else "has more than one -1"
    if total and len(values) != total:
        return f"has {len(values)} numbers, and the node has {total} GPUs"
    if total and values.index(-1) != position:
        return f"has -1 at place {values.index(-1)}, and this is GPU {position}"
    return ""
