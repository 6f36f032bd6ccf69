"""SE001: nodes have memory and Slurm does not hand it out."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "SE001",
    "memory-not-handed-out",
    WARNING,
    by_release=True,
    why="""Without _Memory in SelectTypeParameters memory is no resource: RealMemory is only what a node
        must have to register. Jobs are packed by cores alone, whatever --mem says, and the kernel kills
        whom it finds when memory runs out.""",
    fix="SelectTypeParameters=CR_Core_Memory, and DefMemPerCPU or DefMemPerGPU",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html (SelectTypeParameters)",
        "https://slurm.schedmd.com/cons_tres.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    select = seen.effective("SelectType")
    if not any((node.number("RealMemory") or 0) > 1 for node in config.nodes):
        return
    words = config.words("SelectTypeParameters")
    if not words or "cons" not in select or seen.hands_out_memory:
        return
    if all("memory" in part.text("SelectTypeParameters").lower() for part in config.partitions):
        return
    first = next((word for word in words if word.startswith("cr_")), "cr_core")
    right = {"cr_core": "CR_Core_Memory", "cr_cpu": "CR_CPU_Memory", "cr_socket": "CR_Socket_Memory"}
    yield Fault(
        f"SelectTypeParameters={config.value('SelectTypeParameters')} does not hand out memory, as "
        "CR_Core_Memory does: "
        "nodes are over-committed",
        config.place("SelectTypeParameters"),
        fix=f"SelectTypeParameters={right.get(first, 'CR_Core_Memory')}",
    )
