"""NCCL's environment variables: which name is read from when on, what it may hold, and who reads others.

NCCL never reports a name that it does not know: a mistyped one has no effect and no message.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from slurmwright.catalogue.nccl_versions import NcclVersion
from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.core.errors import nearest

FILE = DATA / "nccl_variables.yaml"


class Variable(Row):
    """One variable. `first` is the first release tag that reads it, `last` the last one, None while it is
    read; `fabric` where it matters; `production` says whether it is a permanent setting."""

    name: str
    type: str
    first: str
    last: str | None = None
    values: str = ""
    default: str | None = None
    default_text: str = ""
    default_history: tuple[tuple[str, str], ...] = ()
    documented: bool | str = False
    section: str = ""
    manual_says: str = ""
    fabric: tuple[str, ...] = ()
    production: str = ""
    tuning: str = ""
    conflicts: tuple[str, ...] = ()
    notes: str = ""

    def read_by(self, version: NcclVersion) -> bool:
        """Does this version read it?"""
        return self.known_by(version) and not self.gone_in(version)

    def known_by(self, version: NcclVersion) -> bool:
        """Is this version as new as its first?"""
        return version.at_least(self.first)

    def gone_in(self, version: NcclVersion) -> bool:
        """Is this version newer than the last that read it?"""
        return self.last is not None and version > NcclVersion.parse(self.last.lstrip("<="))


@cache
def _table() -> dict[str, Any]:
    return load(FILE)


@cache
def variables() -> Mapping[str, Variable]:
    """Every variable by its name."""
    rows = {name: row(Variable, raw, FILE, name, name=name) for name, raw in _table()["variables"].items()}
    return MappingProxyType(rows)


@cache
def wrong_names() -> Mapping[str, str]:
    """Names that people write and NCCL never read, with what they mean."""
    return MappingProxyType({one["name"]: str(one["instead"]) for one in _table()["wrong_names"]})


@cache
def torch_names() -> tuple[frozenset[str], Mapping[str, str]]:
    """PyTorch's own names, and its old ones with the new one for each."""
    torch = _table()["torch"]
    return frozenset(torch["variables"]), MappingProxyType(dict(torch["deprecated_aliases"]))


@cache
def others() -> tuple[frozenset[str], tuple[str, ...]]:
    """Names and beginnings of names that plugins, tests, forks and shells read."""
    names = set(_table()["nvidia_plugin_variables"])
    prefixes: list[str] = []
    for software in _table()["other_software"].values():
        if isinstance(software, list):
            names.update(software)
            continue
        names.update(software.get("names", ()))
        prefixes += software.get("prefixes", ())
    return frozenset(names), tuple(prefixes)


def of_others(name: str) -> bool:
    """Does something beside NCCL and PyTorch read this name?"""
    names, prefixes = others()
    return name in names or name.startswith(prefixes)


def meant(name: str) -> str:
    """What a name that nobody reads stands for: the known answer, the same words in another order, or the
    nearest name; empty where nothing is near."""
    if name in wrong_names():
        return wrong_names()[name]
    words = sorted(name.upper().split("_"))
    same = [one for one in variables() if sorted(one.split("_")) == words]
    return same[0] if same else nearest(name, (*variables(), *torch_names()[0])) or ""


@cache
def written_reasons() -> Mapping[str, str]:
    """Why each line of the nccl.conf that we write stands there."""
    return MappingProxyType(load(DATA / "nccl_written.yaml"))


def path_levels() -> tuple[str, ...]:
    """The words of NCCL_NET_GDR_LEVEL and NCCL_P2P_LEVEL, nearest first."""
    return tuple(_table()["path_levels"])


def level_of(number: int) -> str:
    """What an old number of a level means."""
    table = _table()["legacy_levels"]
    return str(table.get(number, table[">4"]))
