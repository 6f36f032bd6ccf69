"""NCCL's versions as numbers that compare: "2.27", "2.27.7" and the tag "v2.27.7-1".

A version without its last part means the newest release of it, as a container tag does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypeVar

from slurmwright.catalogue.read import DATA, load
from slurmwright.core.errors import InputError

_TEXT = re.compile(r"v?(\d{1,2})\.(\d{1,2})(?:\.(\d{1,2}))?(?:-\d+)?\Z", re.ASCII)
_LAST = 99
T = TypeVar("T")


class NcclVersion(NamedTuple):
    """2.27.7 as (2, 27, 7)."""

    major: int
    minor: int
    patch: int = _LAST

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}" + ("" if self.patch == _LAST else f".{self.patch}")

    @classmethod
    def parse(cls, text: str) -> NcclVersion:
        """Raises InputError for what is no version of NCCL 2."""
        match = _TEXT.match(text.strip())
        if not match or match[1] != "2":
            raise InputError.of(f"NCCL version '{text}' is no version of NCCL 2; expected such as 2.27.7")
        return cls(2, int(match[2]), int(match[3]) if match[3] else _LAST)

    def at_least(self, text: str) -> bool:
        """2.27.7 is at least "2.27" and "2.27.3"."""
        major, minor, *rest = (int(part) for part in text.lstrip("<=").split("."))
        return self >= NcclVersion(major, minor, rest[0] if rest else 0)


@cache
def topology_facts() -> Mapping[str, Any]:
    """The table of NCCL's topology reader."""
    return load(DATA / "nccl_topology.yaml")


def newest_nccl() -> NcclVersion:
    """The newest version whose source was read."""
    return NcclVersion.parse(str(topology_facts()["newest"]))


def judged_as(text: str | None) -> NcclVersion:
    """The version asked for, or the newest; older ones than were tried are refused."""
    if text is None:
        return newest_nccl()
    version = NcclVersion.parse(text)
    oldest = str(topology_facts()["oldest"])
    if not version.at_least(oldest):
        raise InputError.of(f"NCCL {text} is older than {oldest}, the oldest that was tried")
    return version


def since(table: Mapping[str, T], version: NcclVersion) -> T:
    """The value of the newest key that the version has reached, else of the oldest."""
    reached = [value for key, value in table.items() if version.at_least(key)]
    return reached[-1] if reached else next(iter(table.values()))
