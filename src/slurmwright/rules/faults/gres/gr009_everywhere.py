"""GR009: a device line without NodeName= reaches nodes that have no such device."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.hosts import fold
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR009",
    "device-lines-for-every-node",
    ERROR,
    why="""A line without NodeName= holds on every node that reads the file, and with one gres.conf for the
        whole cluster that is all of them. On a node without the device slurmd waits 20 s for the file and
        ends with "can't stat gres.conf file".""",
    fix="begin the line with NodeName=, naming the nodes that have the device",
    references=(
        "https://github.com/BiBiServ/bibigrid/issues/705",
        "Seen with slurmd -G of 24.11.5 and 26.05.5",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for line in config.gres_lines:
        if line.nodes is not None or not line.has("File", "Files", "MultipleFiles"):
            continue
        lacking = [
            name for name, node in config.node_index.items() if node.is_real and not node.count(line.name)
        ]
        having = [name for name, node in config.node_index.items() if node.count(line.name)]
        if not lacking or (seen.host and seen.host not in lacking):
            continue
        start = f"NodeName={fold(having)} " if having else "NodeName=… "
        rest = " ".join(f"{pair.key}={pair.value}" for pair in line.source.statement.pairs)
        yield Fault(
            f"the line has no NodeName=, so it holds on {fold(lacking)} too, which has no {line.name}: "
            "slurmd does not "
            "start there",
            line.place,
            fix=start + rest,
        )
