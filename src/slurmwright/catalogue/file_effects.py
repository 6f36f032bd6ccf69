"""The path of a file around Slurm's own to what a change of it costs: units, scripts, folders."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import Literal

from slurmwright.catalogue.read import DATA, Row, load, row

Cost = Literal["none", "restart"]


class FileEffect(Row):
    """One kind of file. `unit` is a service other than Slurm's three that is restarted on the file's hosts;
    `reload`: systemd reads its units anew before; `drain`: no job may run on the hosts."""

    id: str
    paths: tuple[str, ...]
    slurmctld: Cost = "none"
    slurmd: Cost = "none"
    slurmdbd: Cost = "none"
    unit: str = ""
    reload: bool = False
    drain: bool = False
    jobs: str
    why: str
    source: str


class FileEffects(Row):
    """The whole table, rows in the order in which they are tried."""

    source: tuple[str, ...]
    effects: Mapping[str, FileEffect]


@cache
def table() -> FileEffects:
    """All rows, read when first asked for."""
    path = DATA / "file_effects.yaml"
    raw = load(path)
    rows = {name: row(FileEffect, body, path, name, id=name) for name, body in raw.pop("effects").items()}
    return row(FileEffects, raw, path, effects=MappingProxyType(rows))


def file_effect(path: str) -> FileEffect | None:
    """The row of a file by its absolute path; None where nobody is known to read it."""
    rows = table().effects.values()
    return next((one for one in rows if any(fnmatchcase(path, pattern) for pattern in one.paths)), None)
