"""CG010: a mount point of cgroups that is not the system's."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "CG010",
    "cgroups-mounted-elsewhere",
    WARNING,
    why="""systemd mounts the cgroups at /sys/fs/cgroup. With another CgroupMountpoint (/cgroup stands in
        many old examples) slurmd finds no controllers there, and no job starts, or none is confined.""",
    fix="remove the line: /sys/fs/cgroup is the default",
    references=("https://slurm.schedmd.com/cgroup.conf.html (CgroupMountpoint)",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    where = seen.config.value("CgroupMountpoint", file="cgroup.conf")
    if where and where.rstrip("/") != "/sys/fs/cgroup":
        yield Fault(
            f"CgroupMountpoint={where} is not where systemd mounts the cgroups",
            seen.config.place("CgroupMountpoint", "cgroup.conf"),
        )
