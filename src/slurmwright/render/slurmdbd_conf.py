"""Cluster to slurmdbd.conf: how slurmdbd reaches MariaDB, and how long it keeps what.

The password is no part of a bundle. A placeholder stands in its place; who puts the file on the database host
fills it from the source that `accounting.storage_password` names.
"""

from __future__ import annotations

from slurmwright.core.bundle import BundleFile
from slurmwright.model.cluster import Cluster
from slurmwright.render.rows import Section, override, place, setting

NAME = "slurmdbd.conf"
#: Stands for the password in the bundle, in plans and in every report.
PASSWORD = "@SLURMWRIGHT_STORAGE_PASSWORD@"  # noqa: S105
#: From this release on a script may print the password, and then none stands in the file.
_BY_SCRIPT = "StoragePassScript"


def slurmdbd_conf(cluster: Cluster) -> tuple[Section, ...]:
    """The sections of slurmdbd.conf; none where jobs are not accounted."""
    database = cluster.control.database
    if not cluster.accounting.enabled or database is None:
        return ()
    wanted = cluster.overrides.get(NAME, {})
    address = [setting("DbdAddr", database.address)] if database.address else []
    password = [] if wanted.get(_BY_SCRIPT) else [setting("StoragePass", PASSWORD)]
    sections = (
        Section(
            "The daemon.",
            (
                setting("DbdHost", database.host),
                *address,
                setting("AuthType", "auth/munge"),
                setting("SlurmUser", cluster.slurm.user),
                setting("LogFile", "/var/log/slurm/slurmdbd.log"),
                setting("PidFile", "/run/slurmdbd.pid"),
            ),
        ),
        Section(
            "The database; the password is filled in on this host.",
            (
                setting("StorageType", "accounting_storage/mysql"),
                setting("StorageHost", "localhost"),
                setting("StorageLoc", "slurm_acct_db"),
                setting("StorageUser", "slurm"),
                *password,
            ),
        ),
        Section(
            "What is old enough goes, in the first night of a month; otherwise tables grow for ever.",
            (
                setting("PurgeEventAfter", "12months"),
                setting("PurgeJobAfter", "36months"),
                setting("PurgeResvAfter", "36months"),
                setting("PurgeStepAfter", "12months"),
                setting("PurgeSuspendAfter", "12months"),
                setting("PurgeTXNAfter", "36months"),
                setting("PurgeUsageAfter", "36months"),
            ),
        ),
    )
    return override(sections, wanted)


def slurmdbd_file(cluster: Cluster, sections: tuple[Section, ...]) -> tuple[BundleFile, ...]:
    """The file on the database host. slurmdbd refuses one that others may read or that is not its user's."""
    database = cluster.control.database
    if not sections or database is None:
        return ()
    path = f"{cluster.slurm.config_dir.rstrip('/')}/{NAME}"
    text = place("slurm_file.j2", cluster.name, sections)
    user = cluster.slurm.user
    return (BundleFile(path, path.lstrip("/"), database.host, user, user, "0600", text),)
