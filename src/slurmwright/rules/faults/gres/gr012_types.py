"""GR012: the types in gres.conf are not those in slurm.conf."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR012",
    "types-that-do-not-meet",
    ERROR,
    why="""Without AutoDetect Type= in gres.conf must be the type in slurm.conf, and where one of them has
        none the other must have none either. A device of another type is dropped as extra, the node reports
        too few and becomes INVAL.""",
    fix="the same type in both files, or none in both",
    references=(
        "https://slurm.schedmd.com/gres.conf.html (Type)",
        "Seen with slurmd -G of 22.05.8, 24.11.5 and 26.05.5",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for node, lines, names in config.gres_groups:
        for name in sorted({one.name for one in node.gres} - {"mps", "shard"}):
            mine = [line for line in lines if line.name == name]
            if not mine or config.detects(names[0]):
                continue
            wanted = {one.type.lower() for one in node.gres_named(name)}
            listed = {line.type.lower() for line in mine}
            strange = sorted(listed - wanted)
            if not strange or len({bool(kind) for kind in wanted}) > 1 or len({bool(k) for k in listed}) > 1:
                continue
            line = next(line for line in mine if line.type.lower() == strange[0])
            mine_is = f"Type={line.type}" if line.type else "no Type="
            theirs = (
                " or ".join(sorted(filter(None, (one.type for one in node.gres_named(name))))) or "no type"
            )
            yield Fault(
                f"the line has {mine_is} and slurm.conf has Gres={node.text('Gres')} ({theirs}) for "
                f"{names[0]}: its "
                "devices are dropped and the node becomes INVAL",
                line.place,
                about=f"{node.written} {name}",
            )
