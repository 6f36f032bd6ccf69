"""A key of Slurm's files to what the daemons take when it is left out, the same in every release."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from slurmwright.catalogue.read import DATA, Row, load, row


class Defaults(Row):
    """File → section → key → value."""

    source: tuple[str, ...]
    files: Mapping[str, Mapping[str, Mapping[str, str]]]


@cache
def table() -> Defaults:
    """The whole table, read when first asked for."""
    path = DATA / "slurm_defaults.yaml"
    return row(Defaults, load(path), path)


def default_of(file: str, section: str, key: str) -> str | None:
    """The default of a key, None where the catalogue knows none; letter case of the key does not count."""
    return _folded().get((file, section, key.lower()))


@cache
def _folded() -> dict[tuple[str, str, str], str]:
    return {
        (file, section, key.lower()): value
        for file, sections in table().files.items()
        for section, keys in sections.items()
        for key, value in keys.items()
    }
