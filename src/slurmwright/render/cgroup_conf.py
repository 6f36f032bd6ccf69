"""Cluster to cgroup.conf: the file that keeps a job off the GPUs, cores and memory it was not given."""

from __future__ import annotations

from slurmwright.model.cluster import Cluster
from slurmwright.render.rows import Section, override, setting


def cgroup_conf(cluster: Cluster) -> tuple[Section, ...]:
    """The sections of cgroup.conf; every key is known from 22.05 to 26.05."""
    lines = (
        setting("CgroupPlugin", "autodetect"),
        setting("ConstrainDevices", "yes"),
        setting("ConstrainCores", "yes"),
        setting("ConstrainRAMSpace", "yes"),
    )
    title = "A job opens only the GPUs it was given, and uses only its cores and memory."
    return override((Section(title, lines),), cluster.overrides.get("cgroup.conf", {}))
