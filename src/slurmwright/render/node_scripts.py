"""Cluster to the scripts that slurmd runs on the nodes, and to the options of slurm.conf that name them.

Slurm drains a node whose Prolog or Epilog fails or is missing (slurm.conf(5)), so every script exits 0 and is
in the bundle of every node. A script that an override replaces or takes out is not written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slurmwright.core.bundle import BundleFile
from slurmwright.core.cpu_list import fold_cpus
from slurmwright.model.cluster import Cluster
from slurmwright.render.described import Described
from slurmwright.render.folders import enroot_folder, job_folders, kept_folders, pyxis_folder, user_folders
from slurmwright.render.plain import Block, plain_file, root_file
from slurmwright.render.rows import Line, fill, setting

HEALTH_CHECK, WAIT_FOR_GPUS = "health_check.sh", "wait_for_gpus.sh"
PROLOG, EPILOG = "prolog.sh", "epilog.sh"
NODE_GPUS = "node_gpus.conf"
#: Option → the script that it names.
OPTIONS = {"Prolog": PROLOG, "Epilog": EPILOG, "HealthCheckProgram": HEALTH_CHECK}


def script_options(cluster: Cluster, rows: Sequence[Described]) -> tuple[Line, ...]:
    """The lines of slurm.conf that make slurmd run the scripts."""
    check = (
        setting("HealthCheckProgram", path_of(cluster, HEALTH_CHECK)),
        setting("HealthCheckInterval", "300"),
        setting("HealthCheckNodeState", "ANY,CYCLE"),
    )
    return (
        setting("Prolog", path_of(cluster, PROLOG)),
        setting("Epilog", path_of(cluster, EPILOG)),
        *(check if _has_gpus(rows) else ()),
    )


def script_files(
    cluster: Cluster, rows: Sequence[Described], settings: Mapping[str, str]
) -> Iterator[BundleFile]:
    """The scripts that `settings` of slurm.conf name, and the GPUs that each node must have."""
    nodes = [host for row in rows for host in row.hosts]
    most = cluster.containers.cache.max_gb if cluster.containers else None
    folders = {
        "user_folders": user_folders(cluster),
        "kept_folders": kept_folders(cluster),
        "job_folders": job_folders(cluster),
        "pyxis_folder": pyxis_folder(cluster),
        "cache_folder": f"{enroot_folder(cluster)}/cache",
        "cache_kb": (most or 0) * 1024 * 1024,
    }
    names = [name for option, name in OPTIONS.items() if settings.get(option) == path_of(cluster, name)]
    for name in [*names, WAIT_FOR_GPUS] if _has_gpus(rows) else names:
        text = fill(f"{name}.j2", cluster=cluster.name, **folders)
        yield root_file(path_of(cluster, name), nodes, text, mode="0755")
    if _has_gpus(rows):
        yield from _node_gpus(cluster, rows)


def path_of(cluster: Cluster, name: str) -> str:
    """Where a script stands: beside slurm.conf's own place, which is empty on a node without slurm.conf."""
    return f"{cluster.slurm.config_dir.rstrip('/')}/{name}"


def _node_gpus(cluster: Cluster, rows: Sequence[Described]) -> Iterator[BundleFile]:
    """One file for each set of device numbers."""
    alike: dict[tuple[int, ...], list[str]] = {}
    for row in rows:
        minors = tuple(sorted({device.minor for device in row.shape.devices}))
        alike.setdefault(minors, []).extend(row.hosts)
    for minors, hosts in alike.items():
        target = f"gpus-{fold_cpus(minors).replace(',', '+').replace(':', '-')}" if minors else "gpus-none"
        reason = "The GPUs that this node must have: N of every /dev/nvidiaN."
        line = f'gpu_minors="{" ".join(map(str, minors))}"'
        path = path_of(cluster, NODE_GPUS)
        yield plain_file(cluster.name, path, hosts, Block(reason, (line,)), target=target)


def _has_gpus(rows: Sequence[Described]) -> bool:
    return any(row.shape.devices for row in rows)
