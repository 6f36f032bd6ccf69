"""SE002: memory is handed out and a job that does not ask gets all of it."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "SE002",
    "memory-without-default",
    WARNING,
    by_release=True,
    why="""Memory is a consumable here, and a job without --mem gets the default: without DefMemPerCPU,
        DefMemPerGPU or DefMemPerNode that is all memory of its nodes. One small job then keeps everybody
        else off the node.""",
    fix="DefMemPerCPU with about RealMemory divided by the CPUs, for the cluster or on each partition",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html (DefMemPerCPU)",
        "https://slurm.schedmd.com/cons_tres.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if not seen.hands_out_memory or "linear" in seen.effective("SelectType"):
        return
    if any(config.setting(key) for key in _KEYS):
        return
    open_ones = [part for part in config.partitions if not part.text(*_KEYS)]
    whole = all(part.text("OverSubscribe", "Shared").upper().startswith("EXCL") for part in open_ones)
    if not open_ones or whole:
        return
    sizes: list[int] = [
        (node.number("RealMemory") or 0) // max(node.shape.all_cores * node.shape.threads, 1)
        for node in config.nodes
        if node.shape and node.number("RealMemory")
    ]
    least = min(sizes, default=0)
    everywhere = len(open_ones) == len(config.partitions)
    names = ", ".join(part.name for part in open_ones[:5])
    place = config.place("SelectTypeParameters") if everywhere else open_ones[0].place
    yield Fault(
        f"memory is handed out and {'nothing' if everywhere else f'partition {names} does not'} "
        f"set{'s' if everywhere else ''} DefMemPerCPU, DefMemPerGPU or DefMemPerNode: a job without --mem "
        "takes all "
        "memory of its node",
        place,
        fix=f"DefMemPerCPU={least}" if least else "",
    )


_KEYS = ("DefMemPerCPU", "DefMemPerGPU", "DefMemPerNode")
