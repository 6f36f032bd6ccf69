"""SE003: GPUs, and a select plugin that knows no --gpus."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "SE003",
    "gpus-without-cons-tres",
    WARNING,
    by_release=True,
    why="""Only select/cons_tres knows --gpus, --gpus-per-task, --cpus-per-gpu and --mem-per-gpu, and hands
        out single GPUs with the cores beside them. select/linear hands out whole nodes, whatever a job asks
        for.""",
    fix="SelectType=select/cons_tres with SelectTypeParameters=CR_Core_Memory",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html (SelectType)",
        "https://slurm.schedmd.com/gres.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    select = seen.effective("SelectType")
    if config.slurm is None or "gpu" not in config.words("GresTypes") or not config.nodes:
        return
    # From 23.11 on cons_res does not exist, which OP007 tells.
    if select == "select/linear" or (select == "select/cons_res" and not seen.release.at_least("23.11")):
        told = (
            f"SelectType={select}"
            if config.setting("SelectType")
            else f"without SelectType= {select} is taken, which"
        )
        yield Fault(
            f"{told} does not know --gpus and --gpus-per-task; select/cons_tres does",
            config.place("SelectType"),
            about="select",
        )
