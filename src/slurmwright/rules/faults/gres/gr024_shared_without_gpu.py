"""GR024: MPS or shards on a node without GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "GR024",
    "shares-of-no-gpu",
    ERROR,
    why="""mps and shard are shares of GPUs of the same node. Without gpu beside them, on the node or in
        GresTypes, the daemons refuse them.""",
    fix="Gres=gpu:8,shard:64 and GresTypes=gpu,shard",
    references=(
        "https://slurm.schedmd.com/gres.html (Sharding)",
        "Slurm source, src/interfaces/gres.c: GresTypes",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    listed = config.words("GresTypes")
    for name in ("mps", "shard"):
        if name in listed and "gpu" not in listed:
            yield Fault(
                f"GresTypes lists {name} and not gpu, which it is a share of",
                config.place("GresTypes"),
                about=name,
            )
        for node in config.nodes:
            if node.count(name) and not node.count("gpu"):
                yield Fault(
                    f"{node.written} has {name} and no gpu to share", node.line_of("Gres"), about=node.written
                )
