"""Names, daemons and accounting of slurm.conf and slurmdbd.conf to the words around the nodes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slurmwright.conf import Setting
from slurmwright.conf.meaning.settings import settings_of
from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.importing.draft import Listed, Part, Words, left_out, remark
from slurmwright.importing.source import Source
from slurmwright.importing.yaml_text import Flow, Noted

_HOST = re.compile(r"([^()\s]+)(?:\(([^()\s]*)\))?\Z")
_DATABASE = "slurmdbd.conf"


def control_of(source: Source, release: Release, detects: frozenset[str]) -> Part:
    """name, slurm, control and accounting; InputError without a controller."""
    slurm: Words = {"release": str(release)}
    if "nvml" in detects:
        slurm["nvml"] = Noted(True, "gres.conf has AutoDetect=nvml")
    user = source.slurm.get("SlurmUser")
    slurm["user"] = _noted(source, user) if user else Noted("root", "Slurm's default")
    servers = list(_controllers(source, release))
    control: Words = {"controllers": servers}
    state = source.slurm.get("StateSaveLocation")
    control["state_dir"] = _noted(source, state) if state else Noted("/var/spool", "Slurm's default")
    database, findings = _database(source, servers)
    if database is not None:
        control["database"] = database
    words: Words = {"name": _name(source), "slurm": slurm, "control": control}
    if database is not None:
        words["accounting"] = {"billing": Noted(False, "weights stand with the partitions")}
    return Part(words, (*findings, *_password(source)))


def accounts(source: Source) -> bool:
    """Does slurmctld use slurmdbd?"""
    found = source.slurm.get("AccountingStorageType")
    return found is not None and found.value.lower().rpartition("/")[2] == "slurmdbd"


def _name(source: Source) -> object:
    found = source.slurm.get("ClusterName")
    if found is None:
        raise InputError.of(
            "has no ClusterName, without which slurmctld does not start", source.slurm.top.file
        )
    return Noted(found.value.lower(), source.shown(found.doc.file, found.line))


def _controllers(source: Source, release: Release) -> Iterator[object]:
    said = dict(settings_of("slurm.conf", source.slurm, release)).get(("slurm.conf", "", "slurmctldhost"))
    if said is None:
        raise InputError.of("has no SlurmctldHost; expected at least one", source.slurm.top.file)
    for text in said.normal.split("\n"):
        match = _HOST.match(text)
        if match is None:
            raise InputError.of(
                f"SlurmctldHost '{text}' is not a host; expected NAME or NAME(ADDRESS)", said.file, said.line
            )
        words = {"host": match[1], **({"address": match[2]} if match[2] else {})}
        yield Noted(Flow(words), source.shown(said.file, said.line))


def _database(source: Source, servers: list[object]) -> tuple[object | None, list[Listed]]:
    if not accounts(source):
        return None, []
    host = source.slurm.get("AccountingStorageHost")
    tree = source.trees.get(_DATABASE)
    own = tree.get("DbdHost") if tree else None
    address = tree.get("DbdAddr") if tree else None
    findings = []
    if tree is None:
        message = (
            "slurmdbd.conf is not here, and render writes one with its defaults for the database host; "
            "import the folder of that host as well, or compare before the push"
        )
        file = str(source.folder / _DATABASE)
        findings.append(Listed(remark(message, file, name="no-slurmdbd-conf")))
    name = own.value if own else host.value if host else ""
    if name in ("", "localhost"):
        first = servers[0].value if isinstance(servers[0], Noted) else None
        inner = first.value if isinstance(first, Flow) else None
        name = str(inner["host"]) if isinstance(inner, Mapping) else "localhost"
    words: Words = {"host": name}
    reached = host.value if host else "localhost"
    if address is not None:
        words["address"] = address.value
    elif reached not in (name, "localhost"):
        words["address"] = reached
    place = host or own
    return Noted(Flow(words), source.shown(place.doc.file, place.line) if place else "assumed"), findings


def _password(source: Source) -> Iterator[Listed]:
    tree = source.trees.get(_DATABASE)
    found = tree.get("StoragePass") if tree else None
    if found is not None and accounts(source):
        message = "StoragePass is a secret and is not taken over; the push reads it on the database host"
        fix = "put it into /etc/slurm/slurmdbd.password there, or name a vault under accounting"
        yield Listed(remark(message, found.doc.file, found.line, fix, "secret"))
    if tree is not None and not accounts(source):
        message = "is here, but slurm.conf does not use it (AccountingStorageType); it is left out"
        yield Listed(left_out(message, tree.top.file, 0))


def _noted(source: Source, found: Setting) -> Noted:
    return Noted(found.value, source.shown(found.doc.file, found.line))
