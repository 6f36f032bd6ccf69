"""Cluster and facts to the Bundle: who gets which file, with what owner and mode."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.render.cgroup_conf import cgroup_conf
from slurmwright.render.check import check_rendered
from slurmwright.render.described import Described, describe
from slurmwright.render.gres_conf import gres_conf
from slurmwright.render.rows import place
from slurmwright.render.slurm_conf import slurm_conf

#: Login hosts fetch the files themselves from this release on (sackd); before, they hold copies.
SACKD_SINCE = "23.11"


def render(cluster: Cluster, facts: Mapping[str, HostFacts]) -> Bundle:
    """All files of a cluster. Raises InputError for facts that are missing and options that do not fit."""
    rows = describe(cluster, facts)
    contents = {
        "cgroup.conf": cgroup_conf(cluster),
        "gres.conf": gres_conf(cluster, rows),
        "slurm.conf": slurm_conf(cluster, rows),
    }
    check_rendered(cluster.slurm.release, contents)
    hosts = fold(_holders(cluster))
    folder = cluster.slurm.config_dir.rstrip("/")
    files = (
        BundleFile(
            path=f"{folder}/{name}",
            source=f"{folder.lstrip('/')}/{name}",
            hosts=hosts,
            owner="root",
            group="root",
            mode="0644",
            text=place("slurm_file.j2", cluster.name, sections),
        )
        for name, sections in contents.items()
    )
    return Bundle(cluster.name, str(cluster.slurm.release), tuple(sorted(files)))


def render_notes(cluster: Cluster, facts: Mapping[str, HostFacts]) -> tuple[Finding, ...]:
    """What was assumed because no fact says otherwise: info findings with the way to make it sure."""
    return tuple(_notes(describe(cluster, facts)))


def _holders(cluster: Cluster) -> Iterator[str]:
    """Hosts that hold the files. Compute nodes fetch them from the controllers (configless)."""
    yield from (server.host for server in cluster.control.controllers)
    if not cluster.slurm.release.at_least(SACKD_SINCE):
        yield from (server.host for server in cluster.control.login)


def _notes(rows: Sequence[Described]) -> Iterator[Finding]:
    for row in rows:
        hosts, shape = fold(row.hosts), row.shape
        if shape.memory_assumed:
            message = (
                f"{hosts}: RealMemory={shape.memory_mb} is assumed from the nominal memory of {shape.type}"
            )
            fix = "give memory.real_memory_mb in node_types, or facts"
            yield Finding(
                "render/memory-assumed", "memory-assumed", Severity.INFO, message, "slurm.conf", fix=fix
            )
        if shape.minors_assumed and not shape.autodetect:
            message = f"{hosts}: device numbers of the GPUs are assumed to follow PCI order"
            fix = "facts/HOST.yaml gives them (Device Minor in /proc/driver/nvidia/gpus/*/information)"
            yield Finding(
                "render/minors-assumed", "minors-assumed", Severity.INFO, message, "gres.conf", fix=fix
            )
