"""Who owns what: SlurmUser of both daemons, the owners of files and folders, and the users of the units."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from slurmwright.render.agree.view import Conf, Disagreement, Place, Said, View, lines_of

_TMPFILES = "/etc/tmpfiles.d/slurmwright-{}.conf"
#: Folders that Slurm's user writes to, by daemon; slurmd runs as root and writes everywhere.
_WRITTEN = {
    "slurmctld": ("SlurmctldLogFile", "SlurmSchedLogFile", "StateSaveLocation"),
    "slurmdbd": ("LogFile",),
}


def users(view: View) -> Iterator[Disagreement]:
    """slurmctld and slurmdbd are one user, who owns slurmdbd.conf and writes to the folders of both."""
    main = view.main.get("SlurmUser")
    database = view.conf("slurmdbd.conf")
    own = database.get("SlurmUser") if database else None
    if database is not None:
        yield from _both(view, database, main, own)
    yield from _folders(view, view.main, "slurmctld", main)
    if database is not None:
        yield from _folders(view, database, "slurmdbd", own)
    for daemon, said in (("slurmctld", main), ("slurmdbd", own)):
        for file in view.by_path.get(f"/etc/systemd/system/{daemon}.service.d/slurmwright.conf", ()):
            for text, place in lines_of(file):
                if text.startswith("User=") and text[5:] != _name(said):
                    message = f"runs {daemon} as {text[5:]}, but SlurmUser is {_name(said)}{_at(said)}"
                    yield Disagreement(place, message, "slurm.conf:SlurmUser")


def _both(view: View, database: Conf, main: Said | None, own: Said | None) -> Iterator[Disagreement]:
    place = own.place if own else Place(database.file.source)
    if _name(main) != _name(own):
        message = f"SlurmUser of slurmdbd is {_name(own)}, of slurmctld {_name(main)}{_at(main)}; "
        yield Disagreement(
            place, f"{message}slurmdbd would take slurmctld for a stranger", "slurmdbd.conf:SlurmUser"
        )
    if database.file.owner != _name(own):
        message = f"SlurmUser is {_name(own)}, but bundle.json gives the file to {database.file.owner}; "
        yield Disagreement(place, f"{message}slurmdbd stops at a file that is not its own")
    if int(database.file.mode, 8) & 0o077:
        message = f"mode {database.file.mode} in bundle.json; slurmdbd stops unless it is 0600"
        yield Disagreement(Place(database.file.source), message)


def _folders(view: View, conf: Conf, daemon: str, user: Said | None) -> Iterator[Disagreement]:
    written = {}
    for key in _WRITTEN[daemon]:
        said = conf.get(key)
        if said is not None:
            itself = key == "StateSaveLocation"
            written[posixpath.normpath(said.value if itself else posixpath.dirname(said.value))] = said
    for file in view.by_path.get(_TMPFILES.format(daemon), ()):
        for text, place in lines_of(file):
            row = text.split()
            said = written.get(posixpath.normpath(row[1])) if len(row) > 3 and row[0] == "d" else None
            if said is not None and row[3] != _name(user):
                message = (
                    f"gives {row[1]} to {row[3]}, but SlurmUser {_name(user)}{_at(user)} writes there: {said}"
                )
                yield Disagreement(place, message, "slurm.conf:SlurmUser")


def _name(said: Said | None) -> str:
    return said.value if said else "root"


def _at(said: Said | None) -> str:
    return f" ({said.place})" if said else ""
