"""SE011: SelectTypeParameters that the select plugin does not take together."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "SE011",
    "select-parameters-at-odds",
    ERROR,
    by_release=True,
    why="""select/linear takes CR_Memory at most, cons_tres needs one of CR_CPU, CR_Core and CR_Socket, and
        CR_ONE_TASK_PER_CORE goes with CR_Core only. slurmctld ends with "Invalid SelectTypeParameters" or
        drops what does not fit.""",
    fix="SelectTypeParameters=CR_Core_Memory for select/cons_tres",
    references=(
        "Slurm source, src/plugins/select/cons_tres: Invalid SelectTypeParameters",
        "https://slurm.schedmd.com/slurm.conf.html (SelectTypeParameters)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    words = config.words("SelectTypeParameters")
    units = [
        word
        for word in words
        if word.startswith(("cr_cpu", "cr_core", "cr_socket")) and "default" not in word
    ]
    linear = "linear" in seen.effective("SelectType")
    problem = ""
    if linear and units:
        problem = f"select/linear hands out whole nodes and does not take {units[0]}"
    elif len({word.replace("_memory", "") for word in units}) > 1:
        problem = f"{units[0]} and {units[1]} exclude each other"
    elif "cr_one_task_per_core" in words and any("cpu" in word for word in units):
        problem = "CR_ONE_TASK_PER_CORE goes with CR_Core, not with CR_CPU"
    elif not linear and words and not units and "cr_memory" in words:
        problem = "CR_Memory alone is select/linear's; cons_tres needs CR_Core_Memory"
    if problem:
        yield Fault(problem, config.place("SelectTypeParameters"), about="parameters")
