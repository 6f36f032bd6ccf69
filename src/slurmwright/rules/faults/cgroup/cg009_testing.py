"""CG009: switches of cgroup.conf that are meant for tests."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import INFO, Fault, rule

_KEYS = ("IgnoreSystemd", "IgnoreSystemdOnFailure")


@rule(
    "CG009",
    "systemd-bypassed",
    INFO,
    why="""With IgnoreSystemd slurmd makes its cgroups by hand, beside what systemd believes to own; a
        daemon-reload can take the controllers of running jobs away. It is meant for containers and hosts
        without systemd.""",
    fix="remove the line, and give slurmd.service Delegate=yes",
    references=("https://slurm.schedmd.com/cgroup_v2.html",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for key in _KEYS:
        if seen.config.truth(key, "cgroup.conf"):
            yield Fault(
                f"{key}=yes is for hosts without systemd", seen.config.place(key, "cgroup.conf"), about=key
            )
