"""Who runs what: each daemon's files go to the hosts that slurm.conf names for it, and the daemons meet."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from slurmwright.render.agree.view import Conf, Disagreement, Place, View, lines_of, members, shown

_OF_CONTROLLERS = re.compile(
    r"(slurm|gres|cgroup|topology|job_container|plugstack|acct_gather|mpi|oci)\.conf|(topology|namespace)\.yaml"
)
_FILES = (
    "/etc/logrotate.d/{}",
    "/etc/tmpfiles.d/slurmwright-{}.conf",
    "/etc/systemd/system/{}.service.d/slurmwright.conf",
)
_DEFAULTS = "/etc/default/slurmd"


def controllers(view: View) -> Iterator[Disagreement]:
    """Every controller holds every file of Slurm's own: a backup without one starts with another cluster."""
    for file in view.bundle.files:
        folder, name = posixpath.split(file.path)
        if folder != view.folder or not _OF_CONTROLLERS.fullmatch(name):
            continue
        held = view.holders(file.path)
        for host, _, place in view.controllers:
            if host.split(".")[0] not in held and host not in held:
                message = f"goes to {file.hosts}, but {place} makes {host} a controller"
                yield Disagreement(Place(file.source), message, "slurm.conf:SlurmctldHost")


def conf_servers(view: View) -> Iterator[Disagreement]:
    """A node has a slurm.conf, or is told by which controllers and on which port it gets one."""
    parameters = view.main.get("SlurmctldParameters")
    configless = "enable_configless" in (parameters.value.lower().split(",") if parameters else [])
    port = view.value("SlurmctldPort", "6817").partition("-")[0]
    wanted = [f"{address or host}:{port}" for host, address, _ in view.controllers]
    told: set[str] = set()
    for file in view.by_path.get(_DEFAULTS, ()):
        for text, place in lines_of(file):
            match = re.search(r"--conf-server[= ]([^\s\"']+)", text)
            if match is None:
                continue
            told |= members(file.hosts)
            if match[1].split(",") != wanted:
                message = f"slurmd asks {match[1]}, but slurm.conf's controllers are {','.join(wanted)} "
                yield Disagreement(place, message + f"({view.controllers[0][2]})", "slurm.conf:SlurmctldPort")
            if not configless:
                where = str(parameters) if parameters else view.main.file.source
                message = f"slurmd asks the controllers for its files, which need enable_configless: {where}"
                yield Disagreement(place, message, "slurm.conf:SlurmctldParameters")
    bare = [
        host for host in view.line_of if host not in told and host not in view.holders(view.main.file.path)
    ]
    if bare:
        yield Disagreement(
            Place(view.main.file.source),
            f"{shown(bare)} get no slurm.conf, and no {_DEFAULTS} that names a --conf-server",
        )


def daemon_files(view: View) -> Iterator[Disagreement]:
    """What stands around a daemon goes to the hosts that run it: all of them, and no others."""
    database = view.conf("slurmdbd.conf")
    host = database.get("DbdHost") if database else None
    where = {
        "slurmctld": {name.split(".")[0]: str(place) for name, _, place in view.controllers},
        "slurmd": {name: str(line.place) for name, line in view.line_of.items()},
        "slurmdbd": {host.value.split(".")[0]: str(host.place)} if host else {},
    }
    for daemon, hosts in where.items():
        for path in (form.format(daemon) for form in _FILES):
            files = view.by_path.get(path, ())
            held = view.holders(path)
            lacking, extra = hosts.keys() - held, held - hosts.keys()
            if files and lacking:
                other = hosts[min(lacking)]
                message = f"does not go to {shown(lacking)}, where {daemon} runs ({other})"
                yield Disagreement(Place(files[0].source), message)
            if extra:
                message = f"goes to {shown(extra)}, where no file of the bundle has a {daemon} run"
                yield Disagreement(Place(files[0].source), message)


def accounting(view: View) -> Iterator[Disagreement]:
    """slurmctld finds slurmdbd: same host, same port, same authentication."""
    database = view.conf("slurmdbd.conf")
    if database is None:
        return
    kind = view.main.get("AccountingStorageType")
    if kind is None or not kind.value.lower().endswith("slurmdbd"):
        said = str(kind) if kind else f"{view.main.file.source} has no AccountingStorageType"
        message = f"slurmdbd is set up, but slurmctld does not use it: {said}"
        yield Disagreement(Place(database.file.source), message, "slurm.conf:AccountingStorageType")
        return
    yield from _host(view, database)
    for ours, theirs, default in (
        ("AccountingStoragePort", "DbdPort", "6819"),
        ("AuthType", "AuthType", "auth/munge"),
    ):
        here, there = view.main.get(ours), database.get(theirs)
        if (here.value if here else default).lower() != (there.value if there else default).lower():
            left = str(here) if here else f"{ours} is {default} in {view.main.file.source}"
            right = str(there) if there else f"{theirs} is {default} in {database.file.source}"
            place = here.place if here else Place(view.main.file.source)
            option = f"slurm.conf:{ours}" if here else f"slurmdbd.conf:{theirs}"
            yield Disagreement(place, f"slurmctld and slurmdbd do not meet: {left}, but {right}", option)


def _host(view: View, database: Conf) -> Iterator[Disagreement]:
    said, host = view.main.get("AccountingStorageHost"), database.get("DbdHost")
    names = {row.value for key in ("DbdHost", "DbdAddr") if (row := database.get(key))} or {"localhost"}
    if (said.value if said else "localhost") not in names:
        place = said.place if said else Place(view.main.file.source)
        message = f"AccountingStorageHost is {said.value if said else 'not set'}, but slurmdbd is on "
        other = f"{'/'.join(sorted(names))} ({host.place if host else database.file.source})"
        yield Disagreement(place, message + other, "slurm.conf:AccountingStorageHost")
    held = members(database.file.hosts)
    if host is not None and host.value not in held and host.value.split(".")[0] not in held:
        message = f"DbdHost is {host.value}, but bundle.json gives the file to {database.file.hosts}"
        yield Disagreement(host.place, message, "slurmdbd.conf:DbdHost")
