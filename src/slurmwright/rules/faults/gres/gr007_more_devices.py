"""GR007: gres.conf lists more devices than slurm.conf gives out."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "GR007",
    "devices-nobody-is-given",
    WARNING,
    why="""slurm.conf decides how many there are. Devices that gres.conf has beyond that are dropped with
        one warning in the log of slurmd; the node is IDLE, they are never scheduled, and since Slurm does
        not know them the device cgroup does not deny them: every job can open them.""",
    fix="Gres= in slurm.conf with the number that gres.conf lists",
    references=(
        "Seen with slurmd 24.11.5 and 26.05.5: has 4 more configured than expected in slurm.conf",
        "https://slurm.schedmd.com/cgroup_v2.html (devices)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for node, lines, names in config.gres_groups:
        for name in sorted({one.name for one in node.gres} - {"mps", "shard"}):
            # With AutoDetect a line without a file is only a pattern for what is detected.
            detects = bool(config.detects(names[0]))
            mine = [line for line in lines if line.name == name and not (detects and not line.files)]
            listed, given = sum(line.count for line in mine), node.count(name)
            if not mine or listed <= given:
                continue
            kinds = {line.type for line in mine}
            kind = f"{name}:{kinds.pop()}" if len(kinds) == 1 and "" not in kinds else name
            yield Fault(
                f"gres.conf lists {listed} {name} for {names[0]}, and slurm.conf gives it {given}: nobody "
                "is given the "
                "others, and nothing keeps a job from opening them",
                mine[0].place,
                fix=f"Gres={kind}:{listed}",
                about=f"{node.written} {name}",
            )
