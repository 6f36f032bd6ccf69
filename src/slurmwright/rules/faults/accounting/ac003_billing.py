"""AC003: billing by a resource that is not accounted."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, rule

_ALWAYS = frozenset(("cpu", "mem", "node", "energy", "billing", "vmem", "pages", "fs/disk"))


@rule(
    "AC003",
    "billing-of-the-untracked",
    ERROR,
    why="""Each resource in TRESBillingWeights must be tracked: AccountingStorageTRES must list gres/gpu,
        and gres/gpu:h100 where that is billed. An untracked one ends slurmctld.""",
    fix="AccountingStorageTRES=gres/gpu with every billed type",
    references=(
        "Seen with slurmctld 22.05.8, 24.11.5, 25.11.2 and 26.05.5",
        "https://slurm.schedmd.com/slurm.conf.html (TRESBillingWeights)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    tracked = _ALWAYS | set(config.words("AccountingStorageTRES"))
    for part in config.partitions:
        weights = part.text("TRESBillingWeights")
        names = [weight.partition("=")[0].strip().lower() for weight in weights.split(",") if "=" in weight]
        lost = [name for name in names if name not in tracked]
        if lost:
            yield Fault(
                f"partition {part.name} bills {lost[0]}, which AccountingStorageTRES does not list; "
                "slurmctld does not start",
                part.line_of("TRESBillingWeights"),
                fix=f"AccountingStorageTRES={','.join([*config.words('AccountingStorageTRES'), *lost])}",
                about=part.name,
            )
