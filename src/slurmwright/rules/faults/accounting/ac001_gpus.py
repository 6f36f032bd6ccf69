"""AC001: accounting runs and does not count GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.conf import changes
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Repair, rule


@rule(
    "AC001",
    "gpus-not-accounted",
    WARNING,
    why="""slurmdbd counts only what AccountingStorageTRES lists: without gres/gpu sacct and sreport show no
        GPUs, limits such as GrpTRES=gres/gpu=16 do not hold, and exporters show zero.""",
    fix="AccountingStorageTRES=gres/gpu (and gres/gpu:a100 where types are counted); restart slurmctld",
    references=(
        "https://slurm.schedmd.com/slurm.conf.html (AccountingStorageTRES)",
        "https://slurm.schedmd.com/tres.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if "slurmdbd" not in config.value("AccountingStorageType").lower() or "gpu" not in config.words(
        "GresTypes"
    ):
        return
    words = config.words("AccountingStorageTRES")
    if "gres/gpu" in words:
        return
    typed = next((word for word in words if word.startswith("gres/gpu:")), "")
    wanted = ",".join(["gres/gpu", *words])
    has = f"has {typed} and not gres/gpu itself" if typed else "does not list gres/gpu"
    found = config.setting("AccountingStorageTRES")
    doc = found.doc if found else config.slurm.top if config.slurm else None
    yield Fault(
        f"AccountingStorageTRES {has}: GPUs are not accounted",
        config.place("AccountingStorageTRES" if words else "AccountingStorageType"),
        fix=f"AccountingStorageTRES={wanted}",
        repair=Repair(doc, changes.set_key(doc, "AccountingStorageTRES", wanted)) if doc else None,
    )
