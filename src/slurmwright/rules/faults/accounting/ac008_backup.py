"""AC008: a second controller that cannot take over."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, Fault, rule


@rule(
    "AC008",
    "backup-without-shared-state",
    INFO,
    why="""A second SlurmctldHost takes over with the state in StateSaveLocation, so both must mount the
        same folder. On a local file system the backup starts with an empty queue, and running jobs are
        killed.""",
    fix="StateSaveLocation= on a file system that both controllers mount",
    references=(
        "https://slurm.schedmd.com/quickstart_admin.html#HA",
        "https://slurm.schedmd.com/slurm.conf.html (StateSaveLocation)",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    config = seen.config
    tree = config.slurm
    folder = config.value("StateSaveLocation")
    several = tree is not None and len(tree.all("SlurmctldHost")) > 1
    if several and folder.startswith(("/var/spool", "/var/lib")):
        yield Fault(f"{folder} must be one folder for both controllers", config.place("StateSaveLocation"))
