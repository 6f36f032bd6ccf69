"""AC002: resources are to be accounted and there is no slurmdbd."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule


@rule(
    "AC002",
    "accounting-without-slurmdbd",
    ERROR,
    why="""gres/gpu and other dynamic resources in AccountingStorageTRES, and those in TRESBillingWeights,
        exist only in slurmdbd's database. Without AccountingStorageType=accounting_storage/slurmdbd
        slurmctld does not start.""",
    fix="AccountingStorageType=accounting_storage/slurmdbd and AccountingStorageHost=HOST, or remove the "
    "line",
    references=(
        "Seen with slurmctld 22.05.8, 24.11.5, 25.11.2 and 26.05.5: slurmdbd is required to run with TRES",
        "https://slurm.schedmd.com/slurm.conf.html (AccountingStorageTRES)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    if config.slurm is None or "slurmdbd" in config.value("AccountingStorageType").lower():
        return
    needing = [word for word in config.words("AccountingStorageTRES") if "/" in word]
    if needing:
        yield Fault(
            f"AccountingStorageTRES={needing[0]} needs slurmdbd; slurmctld does not start",
            config.place("AccountingStorageTRES"),
        )
    if config.words("AccountingStorageEnforce") and "none" not in config.words("AccountingStorageEnforce"):
        yield Fault(
            f"AccountingStorageEnforce={config.value('AccountingStorageEnforce')} needs slurmdbd to know "
            "associations",
            config.place("AccountingStorageEnforce"),
            about="enforce",
        )
