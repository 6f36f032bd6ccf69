"""SC006: a unit of slurmd without Delegate=, so that systemd takes its cgroups away."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, rule
from slurmwright.rules.units_seen import unit_settings


@rule(
    "SC006",
    "cgroups-not-delegated",
    ERROR,
    why="""slurmd makes cgroups below its own. Without Delegate=yes systemd believes that they are its own:
        with the next daemon-reload controllers and device filters of running jobs are gone.""",
    fix="Delegate=yes below [Service]",
    references=("https://slurm.schedmd.com/cgroup_v2.html", "https://systemd.io/CGROUP_DELEGATION"),
)
def check(seen: Evidence) -> Iterator[Fault]:
    unit = next(
        (file for path, file in seen.files.items() if path.endswith("/systemd/system/slurmd.service")), None
    )
    if unit is None:
        return
    parts = [unit, *seen.under("/etc/systemd/system/slurmd.service.d")]
    values = [value for file in parts for value, _ in unit_settings(file.text).get("Delegate", ())]
    if not values or values[-1].lower() in ("no", "false", "0", ""):
        yield Fault("slurmd.service has no Delegate=yes", Place(unit.path))
