"""SC005: a password in a file that every user reads."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import CRITICAL, Fault, rule


@rule(
    "SC005",
    "passwords-in-slurm-conf",
    CRITICAL,
    why="""slurm.conf is readable for every user, since every command reads it: a password in it is
        everybody's, and that of the accounting database lets anybody rewrite it.""",
    fix="StoragePass in slurmdbd.conf, mode 0600; JobCompPassScript from 25.11",
    references=("https://slurm.schedmd.com/slurm.conf.html (JobCompPass)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    for key in ("JobCompPass", "AccountingStoragePass"):
        text = config.value(key)
        # With munge AccountingStoragePass is the path of a socket, no password.
        if text and not text.startswith("/"):
            yield Fault(f"{key} stands in slurm.conf, which every user reads", config.place(key), about=key)
