"""AC004: preemption modes and types that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "AC004",
    "preemption-at-odds",
    ERROR,
    why="""PreemptMode without PreemptType, PreemptType with mode OFF, and SUSPEND without GANG are refused:
        no daemon starts.""",
    fix="PreemptType=preempt/qos with PreemptMode=REQUEUE, or neither",
    references=(
        "Slurm source, src/common/read_config.c: PreemptType and PreemptMode values incompatible",
        "https://slurm.schedmd.com/slurm.conf.html (PreemptMode)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.slurm is None:
        return
    kind = config.value("PreemptType").lower().removeprefix("preempt/")
    words = set(config.words("PreemptMode"))
    acting = words - {"off", "gang", "within"}
    problem = ""
    if words == {"suspend"}:
        problem = "PreemptMode=SUSPEND needs GANG beside it"
    elif acting and kind in ("", "none"):
        problem = (
            f"PreemptMode={config.value('PreemptMode')} needs a PreemptType, which is {kind or 'not set'}"
        )
    elif kind in ("qos", "partition_prio") and not acting:
        problem = (
            f"PreemptType=preempt/{kind} with PreemptMode={config.value('PreemptMode') or 'OFF'} is refused"
        )
    if problem:
        yield Fault(f"{problem}; no daemon starts", config.place("PreemptMode" if words else "PreemptType"))
