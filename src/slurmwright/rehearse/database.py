"""Runs slurmdbd and a MariaDB of its own on the database host of a rehearsal, on a folder that goes with it.

The server listens on a socket only. Its password is drawn here, stands in the host's own slurmdbd.conf and
nowhere else, and is gone with the sandbox.
"""

from __future__ import annotations

import posixpath
import secrets
import time
from collections.abc import Callable

from slurmwright.conf import parse
from slurmwright.core.bundle import BundleFile
from slurmwright.rehearse.adapt import DATABASE_CONF, PASSWORD
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.slurm_text import error_lines

#: The account that all jobs of a rehearsal run under.
ACCOUNT = "rehearsal"
_SERVER = (
    "/usr/sbin/mariadbd --no-defaults --user=root --datadir=/run/mysqld/data "
    "--socket=/run/mysqld/mysqld.sock --pid-file=/run/mysqld/mysqld.pid --skip-networking --skip-log-bin "
    "--innodb-flush-log-at-trx-commit=0 --innodb-log-file-size=32M --innodb-buffer-pool-size=128M "
    "--innodb-lock-wait-timeout=900 --loose-innodb-snapshot-isolation=OFF"
)
#: The system tables come from the server's own scripts, whose folder and prefix changed with MariaDB 11; the
#: client library looks for the socket in either folder by its version.
_SCRIPT = """
umask 022
mkdir -p /run/mysqld/data /run/mariadbd
ln -sf /run/mysqld/mysqld.sock /run/mariadbd/mysqld.sock
s=/usr/share/mariadb/mariadb; [ -e "$s"_system_tables.sql ] || s=/usr/share/mysql/mysql
{{ printf 'create database mysql;\\nuse mysql;\\nset @auth_root_socket=NULL;\\n'
  cat "$s"_system_tables.sql "$s"_system_tables_data.sql "$s"_performance_tables.sql
}} | {server} --bootstrap >/run/mysqld/bootstrap.log 2>&1
{server} --init-file=/run/mysqld/init.sql >/run/mysqld/mariadbd.log 2>&1 </dev/null &
echo $! >/run/mysqld/server.pid
"""
#: Exit code 0: it listens; 75: it runs and may still come; 1: it is gone.
_LISTENS = """
[ -S /run/mysqld/mysqld.sock ] && exit 0
kill -0 "$(cat /run/mysqld/server.pid)" 2>/dev/null && exit 75
exit 1
"""
#: Seconds; a busy machine needs them, and one where it does not start is not waited for.
_PATIENCE = 180


def lacking(root: SlurmRoot) -> str:
    """Why accounting cannot be rehearsed with this root; "" where it can."""
    for path in (f"{root.prefix}/sbin/slurmdbd", "/usr/sbin/mariadbd"):
        if not (root.folder / path.lstrip("/")).exists():
            return f"{posixpath.basename(path)} is not in {root.folder}{path}"
    return ""


def start(machine: Machine) -> tuple[str, ...]:
    """Start both; what they said when they did not come up, nothing when slurmdbd answers or none is cast."""
    name = machine.cast.database
    conf = next((f for f in _files(machine) if posixpath.basename(f.path) == DATABASE_CONF), None)
    if not name or conf is None:
        return ()
    doc = parse(conf.text)
    said = {key: pair.value for key in ("StorageUser", "StorageLoc", "LogFile") if (pair := doc.get(key))}
    user, table = said.get("StorageUser", machine.cast.user), said.get("StorageLoc", "slurm_acct_db")
    password = secrets.token_hex(16)
    machine.fill_file(name, conf, PASSWORD, password)
    machine.write_private(
        name,
        "/run/mysqld/init.sql",
        f"CREATE DATABASE `{table}`;\nCREATE USER '{user}'@'localhost' IDENTIFIED BY '{password}';\n"
        f"GRANT ALL ON `{table}`.* TO '{user}'@'localhost';\n",
    )
    begun = machine.on_host(name, ["sh", "-c", _SCRIPT.format(server=_SERVER)], limit_s=_PATIENCE)
    if not begun.ok or not _listens(machine):
        said_by = machine.on_host(name, ["sh", "-c", "cat /run/mysqld/*.log"]).out.splitlines()
        told = [line for line in said_by if "[ERROR]" in line] or said_by[-1:] or [begun.last_line]
        return tuple(f"MariaDB did not start: {line.strip()}" for line in dict.fromkeys(told))
    started = machine.on_host(name, ["slurmdbd"], limit_s=60)
    # It reads slurm.conf only for the address; no slurmctld is needed for this answer.
    if started.ok and _answers(machine):
        return ()
    lines = error_lines(started.out + started.err + machine.database_log()) or (started.last_line,)
    return tuple(f"slurmdbd did not start: {line}" for line in dict.fromkeys(lines))


def admit(machine: Machine) -> None:
    """Give root, who submits every job here, an account, as AccountingStorageEnforce asks of users."""
    if not machine.cast.database:
        return
    end = time.monotonic() + 60
    while not machine.ctl("sacctmgr", "-nP", "show", "cluster", "format=cluster").out.strip():
        if time.monotonic() > end:
            return
        time.sleep(0.2)
    machine.ctl("sacctmgr", "-i", "add", "account", ACCOUNT, "Description=rehearsal", "Organization=none")
    machine.ctl("sacctmgr", "-i", "add", "user", "root", f"Account={ACCOUNT}")
    machine.ctl("sacctmgr", "-i", "modify", "user", "root", "set", f"DefaultAccount={ACCOUNT}")


def _files(machine: Machine) -> tuple[BundleFile, ...]:
    return next((h.files for h in machine.cast.hosts if h.name == machine.cast.database), ())


def _answers(machine: Machine) -> bool:
    return _until(lambda: machine.ctl("sacctmgr", "-nP", "show", "cluster").ok, 60)


def _listens(machine: Machine) -> bool:
    end = time.monotonic() + _PATIENCE
    while (code := machine.on_host(machine.cast.database, ["sh", "-c", _LISTENS]).code) == 75:
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return code == 0


def _until(look: Callable[[], bool], limit_s: float) -> bool:
    end = time.monotonic() + limit_s
    while not look():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
