"""Cluster to the files around Slurm's own: scripts, units, folders, logs and containers of every host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster
from slurmwright.render.containers import container_files
from slurmwright.render.described import Described
from slurmwright.render.folders import folder_files
from slurmwright.render.logrotate import logrotate_files
from slurmwright.render.node_scripts import script_files
from slurmwright.render.units import unit_files


def node_files(
    cluster: Cluster,
    rows: Sequence[Described],
    holders: Sequence[str],
    settings: Mapping[str, str],
    database: Mapping[str, str],
) -> tuple[BundleFile, ...]:
    """`holders` hold slurm.conf, and `settings` are its global options with the overrides applied; `database`
    are those of slurmdbd.conf, none where jobs are not accounted."""
    nodes = [host for row in rows for host in row.hosts]
    return (
        *script_files(cluster, rows, settings),
        *unit_files(cluster, rows, frozenset(holders), settings, database),
        *folder_files(cluster, nodes, settings, database),
        *logrotate_files(cluster, nodes, settings, database),
        *container_files(cluster, nodes, holders),
    )
