"""A release to the versions of the REST interface that it has; each drops the oldest and adds one."""

from __future__ import annotations

from functools import cache

from slurmwright.catalogue.read import DATA, load


@cache
def rest_versions(series: str) -> tuple[int, int] | None:
    """First and last N of v0.0.N in a series such as 24.11; None where the catalogue does not tell."""
    row = load(DATA / "rest_versions.yaml")["releases"].get(series)
    return (int(row[0]), int(row[1])) if row else None
