"""GR023: the inventory and the configuration count GPUs differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Scope, rule


@rule(
    "GR023",
    "gpus-unlike-the-inventory",
    ERROR,
    scope=Scope.CLUSTER,
    why="""GPUs that the inventory has and slurm.conf does not are used by nobody, and open to every job;
        the other way round the node becomes INVAL.""",
    fix="Gres= on the node line and File= in gres.conf with the number of the inventory",
    references=("https://slurm.schedmd.com/gres.html",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    nodes = seen.inventory.get("nodes")
    for name, body in nodes.items() if isinstance(nodes, Mapping) else ():
        gpus = body.get("gpus") if isinstance(body, Mapping) else None
        count = gpus.get("count") if isinstance(gpus, Mapping) else None
        node = config.node_index.get(str(name))
        if (
            not isinstance(count, int)
            or isinstance(count, bool)
            or node is None
            or node.count("gpu") == count
        ):
            continue
        model = gpus.get("model") if isinstance(gpus, Mapping) else None
        kind = f"{str(model).lower()}:" if model else ""
        yield Fault(
            f"the inventory says that {name} has {count} GPUs, and slurm.conf gives it {node.count('gpu')}",
            node.place,
            fix=f"Gres=gpu:{kind}{count}",
            about=str(name),
        )
