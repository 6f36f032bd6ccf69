"""Cluster to what systemd needs to know of Slurm's daemons: drop-ins beside the units of the packages.

The units of Slurm's releases and distributions differ (Debian 12's slurmd does not start without a
slurm.conf, which a configless node does not have; units of old releases run slurmctld as root), so a drop-in
says all that this cluster rests on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster
from slurmwright.render.described import Described
from slurmwright.render.node_scripts import WAIT_FOR_GPUS, path_of
from slurmwright.render.plain import Block, plain_file

_DROP_IN = "/etc/systemd/system/{}.service.d/slurmwright.conf"
DEFAULTS = "/etc/default/slurmd"
SACKD_DEFAULTS = "/etc/default/sackd"
#: From this release on Slurm's own units run slurmctld and slurmdbd as SlurmUser.
OWN_USER_SINCE = "23.11"
_MANY = ("[Service]", "LimitNOFILE=65536", "TasksMax=infinity")


def unit_files(
    cluster: Cluster,
    rows: Sequence[Described],
    holders: frozenset[str],
    settings: Mapping[str, str],
    database: Mapping[str, str],
) -> Iterator[BundleFile]:
    """Drop-ins of the daemons, and the command lines of slurmd and sackd on hosts without slurm.conf."""
    nodes = [host for row in rows for host in row.hosts]
    controllers = [server.host for server in cluster.control.controllers]
    yield plain_file(cluster.name, _DROP_IN.format("slurmd"), nodes, *_slurmd(cluster, rows))
    yield plain_file(cluster.name, _DROP_IN.format("slurmctld"), controllers, *_slurmctld(cluster))
    if database and cluster.control.database:
        host = cluster.control.database.host
        yield plain_file(cluster.name, _DROP_IN.format("slurmdbd"), [host], *_slurmdbd(cluster, database))
    configless = [host for host in nodes if host not in holders]
    if configless:
        yield plain_file(cluster.name, DEFAULTS, configless, _fetches(cluster, "slurmd", settings))
    clients = [one.host for one in cluster.control.login if one.host not in {*holders, *nodes}]
    if clients:
        yield plain_file(cluster.name, _DROP_IN.format("sackd"), clients, *_sackd(cluster))
        yield plain_file(cluster.name, SACKD_DEFAULTS, clients, _fetches(cluster, "sackd", settings))


def _fetches(cluster: Cluster, daemon: str, settings: Mapping[str, str]) -> Block:
    port = settings.get("SlurmctldPort", "6817").partition("-")[0]
    servers = ",".join(f"{one.address or one.host}:{port}" for one in cluster.control.controllers)
    return Block(
        f"{daemon} fetches its files from the controllers (configless).",
        (f'{daemon.upper()}_OPTIONS="--conf-server {servers}"',),
    )


def _slurmd(cluster: Cluster, rows: Sequence[Described]) -> Iterator[Block]:
    yield Block(
        "A node without slurm.conf is started all the same: slurmd fetches it (Debian 12's unit asks for "
        "the file).",
        ("[Unit]", "ConditionPathExists="),
    )
    gpus = any(row.shape.devices for row in rows)
    if gpus:
        yield Block("The device files of the GPUs come first.", ("After=nvidia-persistenced.service",))
    yield Block(
        "slurmd keeps its own cgroup tree, and what a job may lock, open and start is not limited by "
        "slurmd's own limits, which jobs inherit.",
        (
            "[Service]",
            f"EnvironmentFile=-{DEFAULTS}",
            "Delegate=yes",
            "KillMode=process",
            "LimitMEMLOCK=infinity",
            "LimitNOFILE=131072",
            "LimitSTACK=infinity",
            "TasksMax=infinity",
        ),
    )
    if gpus:
        yield Block(
            "slurmd gives up on a missing device file after 20 s, so it waits here first: 85 s at most.",
            (f"ExecStartPre=-{path_of(cluster, WAIT_FOR_GPUS)}",),
        )
    # A configless slurmd of 24.11 tries to fetch its files every 10 s without end ("failed to load
    # configs. Retrying in 10 seconds."), and is ready for Type=notify only then.
    yield Block(
        "After a power failure nodes may be up long before slurmctld: slurmd waits, and is not ended for it.",
        ("TimeoutStartSec=infinity",),
    )


def _slurmctld(cluster: Cluster) -> Iterator[Block]:
    yield Block(
        "Never before the folder of its state is mounted: with an empty one it forgets every job.",
        ("[Unit]", f"RequiresMountsFor={cluster.control.state_dir}"),
    )
    yield Block(
        "Every node and every command takes a connection.",
        _MANY,
    )
    yield from _own_user(cluster)


def _slurmdbd(cluster: Cluster, settings: Mapping[str, str]) -> Iterator[Block]:
    if settings.get("StorageHost", "localhost") == "localhost":
        yield Block(
            "The database of this host comes first, whatever its unit is called.",
            ("[Unit]", "After=mariadb.service mysql.service mysqld.service"),
        )
    yield Block("Every controller and every sacct takes a connection.", _MANY)
    yield from _own_user(cluster)


def _sackd(cluster: Cluster) -> Iterator[Block]:
    yield Block(
        "It proves to the controllers who it is before it gets the files; its unit does not name munge.",
        ("[Unit]", "After=munge.service"),
    )
    yield Block("The command line.", ("[Service]", f"EnvironmentFile=-{SACKD_DEFAULTS}"))
    yield from _own_user(cluster)


def _own_user(cluster: Cluster) -> Iterator[Block]:
    if cluster.slurm.user != "slurm" and cluster.slurm.release.at_least(OWN_USER_SINCE):
        yield Block(
            "The unit names the user slurm; here SlurmUser is another, in its own group.",
            (f"User={cluster.slurm.user}", "Group="),
        )
