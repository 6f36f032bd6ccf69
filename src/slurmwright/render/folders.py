"""Cluster and slurm.conf's settings to the folders that must exist, as systemd-tmpfiles makes them.

A daemon does not start without the folder of its log or state. tmpfiles.d makes them when the files are
placed and at every boot, which folders below /run need. State on shared storage is left to the storage: what
is made before the mount stands on the wrong disk.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster
from slurmwright.render.plain import Block, plain_file

#: Folders that every system has; they are never changed.
SYSTEM = frozenset(("/", "/run", "/var/run", "/var/log", "/var/lib", "/var/spool", "/tmp", "/var/tmp"))  # noqa: S108
_CONTROLLER = ("SlurmctldLogFile", "SlurmSchedLogFile", "SlurmctldPidFile")
_NODE = ("SlurmdLogFile", "SlurmdPidFile")
_DATABASE = ("LogFile", "PidFile")


@dataclass(frozen=True)
class Folder:
    """One folder that a role makes."""

    path: str
    owner: str
    mode: str

    @property
    def line(self) -> str:
        return f"d {self.path} {self.mode} {self.owner} root -"


def enroot_folder(cluster: Cluster) -> str:
    """Where the images and containers of users are."""
    return f"{cluster.scratch.base}/enroot" if cluster.scratch else "/var/lib/enroot"


def user_folders(cluster: Cluster) -> tuple[str, ...]:
    """Parents of folders that last as long as a user has jobs on the node."""
    if cluster.containers is None:
        return ()
    names = ("data", "temp") if cluster.containers.scope == "job" else ("temp",)
    return ("/run/enroot", *(f"{enroot_folder(cluster)}/{name}" for name in names))


def kept_folders(cluster: Cluster) -> tuple[str, ...]:
    """Parents of users' folders that outlast their jobs: the cache, and containers that nobody but their user
    removes."""
    if cluster.containers is None:
        return ()
    names = ("cache",) if cluster.containers.scope == "job" else ("cache", "data")
    return tuple(f"{enroot_folder(cluster)}/{name}" for name in names)


def pyxis_folder(cluster: Cluster) -> str:
    """Where pyxis keeps an image while it starts; below /run, its default, that would be memory."""
    return f"{enroot_folder(cluster)}/pyxis" if cluster.containers else ""


def image_folders(cluster: Cluster) -> tuple[str, ...]:
    """Folders of the node's own disk for images that the site brings; shared ones are the storage's."""
    if cluster.containers is None or cluster.scratch is None:
        return ()
    base = cluster.scratch.base.rstrip("/") + "/"
    return tuple(path for path in cluster.containers.images if path.startswith(base))


def job_folders(cluster: Cluster) -> tuple[str, ...]:
    """Parents of folders that last as long as one job."""
    return (cluster.scratch.base,) if cluster.scratch and not cluster.scratch.private_tmp else ()


def private_tmp_folder(cluster: Cluster) -> str:
    """Where jobs' own /tmp and /dev/shm are kept."""
    return f"{cluster.scratch.base}/private" if cluster.scratch and cluster.scratch.private_tmp else ""


def controller_folders(cluster: Cluster, settings: Mapping[str, str]) -> tuple[Folder, ...]:
    """What slurmctld needs."""
    state = settings.get("StateSaveLocation", "")
    local = len(cluster.control.controllers) == 1 and state
    own = [Folder(state, cluster.slurm.user, "0700")] if local and state not in SYSTEM else []
    return _once((*_parents(cluster, settings, _CONTROLLER), *own))


def database_folders(cluster: Cluster, settings: Mapping[str, str]) -> tuple[Folder, ...]:
    """What slurmdbd needs; `settings` are those of slurmdbd.conf."""
    return _once(_parents(cluster, settings, _DATABASE))


def node_folders(cluster: Cluster, settings: Mapping[str, str]) -> tuple[Folder, ...]:
    """What slurmd, prolog and containers need."""
    spool = settings.get("SlurmdSpoolDir", "")
    paths = [spool] if spool and "%" not in spool and spool not in SYSTEM else []
    if cluster.scratch:
        paths.append(cluster.scratch.base)
    if cluster.containers:
        paths += [enroot_folder(cluster), *user_folders(cluster), *kept_folders(cluster)]
        paths += [pyxis_folder(cluster), *image_folders(cluster)]
    if private_tmp_folder(cluster):
        paths.append(private_tmp_folder(cluster))
    own = [Folder(path, "root", "0755") for path in paths]
    return _once((*_parents(cluster, settings, _NODE), *own))


def folder_files(
    cluster: Cluster, nodes: Iterable[str], settings: Mapping[str, str], database: Mapping[str, str]
) -> Iterator[BundleFile]:
    """tmpfiles.d of each daemon's hosts; a host that runs two has both."""
    controllers = [server.host for server in cluster.control.controllers]
    of_database = [cluster.control.database.host] if cluster.control.database and database else []
    for daemon, hosts, folders in (
        ("slurmdbd", of_database, database_folders(cluster, database)),
        ("slurmctld", controllers, controller_folders(cluster, settings)),
        ("slurmd", list(nodes), node_folders(cluster, settings)),
    ):
        if folders:
            reason = (
                f"Folders that {daemon} and its options need: made by systemd-tmpfiles --create, and at boot."
            )
            blocks = [Block(reason, tuple(folder.line for folder in folders))]
            blocks += [_old_layers(cluster)] if daemon == "slurmd" else []
            yield plain_file(cluster.name, f"/etc/tmpfiles.d/slurmwright-{daemon}.conf", hosts, *blocks)


def _old_layers(cluster: Cluster) -> Block:
    days = cluster.containers.cache.keep_days if cluster.containers else None
    reason = (
        "Layers that nobody read for so long go once a day (systemd-tmpfiles-clean.timer); the next "
        "job that needs one pulls it again."
    )
    line = f"e {enroot_folder(cluster)}/cache/user-* - - - {days}d"
    return Block(reason, (line,) if days is not None else ())


def _parents(cluster: Cluster, settings: Mapping[str, str], keys: Iterable[str]) -> Iterator[Folder]:
    """Folders of log and PID files. Slurm's user writes there: slurmctld runs as it."""
    for key in keys:
        folder = posixpath.dirname(settings.get(key, ""))
        if folder and "%" not in folder and folder not in SYSTEM:
            yield Folder(folder, cluster.slurm.user, "0755")


def _once(folders: Iterable[Folder]) -> tuple[Folder, ...]:
    return tuple(sorted({folder.path: folder for folder in folders}.values(), key=lambda f: f.path))
