"""GR010: a line of gres.conf is for nodes that slurm.conf does not know or that have no such GRES."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, INFO, Fault, rule


@rule(
    "GR010",
    "device-lines-for-other-nodes",
    ERROR,
    why="""A line for nodes that slurm.conf gives no such GRES ends slurmd there when the device file is
        missing, and hides the devices from everybody when it is there. Nodes that slurm.conf does not know
        at all are names that were renamed or mistyped: the nodes that were meant have no devices.""",
    fix="name only nodes that have the GRES in slurm.conf",
    references=(
        "https://slurm.schedmd.com/gres.conf.html (NodeName)",
        "Seen with slurmd -G of 24.11.5: can't stat gres.conf file",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if not config.node_index:
        return
    dynamic = config.setting("MaxNodeCount") is not None
    for line in config.gres_lines:
        if not line.nodes or not line.name:
            continue
        unknown = [name for name in line.nodes if name not in config.node_index]
        without = [
            name for name in line.nodes if (node := config.node_index.get(name)) and not node.count(line.name)
        ]
        if not unknown and not without:
            continue
        other = {*unknown, *without}
        kept = [name for name in line.nodes if name not in other]
        fix = f"NodeName={fold(kept)}" if kept else "remove the line"
        if unknown:
            yield Fault(
                f"{_shown(unknown)} {'is' if len(unknown) == 1 else 'are'} not in slurm.conf",
                line.place,
                fix=fix,
                about="unknown",
                severity=INFO if dynamic else None,
            )
        if without:
            yield Fault(
                f"{_shown(without)} {'has' if len(without) == 1 else 'have'} no {line.name} in slurm.conf: "
                "slurmd does "
                "not start there without the device, and gives nobody the device where it is",
                line.place,
                fix=fix,
                about="without",
            )


def _shown(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else fold(names)
