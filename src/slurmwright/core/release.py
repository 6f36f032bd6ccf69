"""Slurm releases and patch levels, and whether a row of the catalogue holds for one of them.

A cluster may name a release (`24.11`) or a patch level (`24.11.5`). Without a patch level only what the
*first* patch release of that series knows may be written, and nothing that a later patch of it dropped:
options appear in patch releases too (EnableControllers came with 23.02.1).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slurmwright.core.errors import InputError, did_you_mean

#: All release series this package knows, oldest first. A new Slurm release is a new entry here and rows in
#: the catalogue.
SERIES = ("22.05", "23.02", "23.11", "24.05", "24.11", "25.05", "25.11", "26.05")

_FORM = re.compile(r"(\d\d\.\d\d)(?:\.(\d{1,2}))?\Z", re.ASCII)


@dataclass(frozen=True, order=True)
class Release:
    """`series` is one of SERIES; `patch` is None when only the series is known."""

    series: str
    patch: int | None = None

    @classmethod
    def parse(cls, text: str) -> Release:
        """Read `24.11` or `24.11.5`; raises InputError naming the nearest known release."""
        match = _FORM.match(text)
        if not match or match[1] not in SERIES:
            raise InputError.of(
                f"Slurm release '{text}' is not known; expected a series such as 24.11 or a patch level "
                f"such as 24.11.5; {did_you_mean(text, SERIES)}"
            )
        return cls(match[1], int(match[2]) if match[2] is not None else None)

    def __str__(self) -> str:
        return self.series if self.patch is None else f"{self.series}.{self.patch}"

    def at_least(self, version: str) -> bool:
        """Is this release surely `version` (`24.11` or `24.11.3`) or later?"""
        series, patch = split_version(version)
        return (self.series, self.patch or 0) >= (series, patch or 0)

    def at_most(self, version: str) -> bool:
        """Is this release surely `version` or earlier? A series without patch means its last patch."""
        series, patch = split_version(version)
        if self.series != series or patch is None:
            return self.series <= series
        return self.patch is not None and self.patch <= patch


def split_version(version: str) -> tuple[str, int | None]:
    """`24.11.5` → (`24.11`, 5); `24.11` → (`24.11`, None)."""
    parts = version.split(".")
    return f"{parts[0]}.{parts[1]}", int(parts[2]) if len(parts) > 2 else None
