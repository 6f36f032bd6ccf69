"""What findings beside those of rules mean: the faults of facts and of living hosts, as rows with sources.

A rule explains itself in its module; what is judged by majority or from logs is explained here, with the same
words for the same fields.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

from pydantic import Field

from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.core.finding import Severity

Scope = Literal["facts", "live", "job"]


class FindingKind(Row):
    """One kind of finding: its id and names, why it matters, what mends it, and where that is from. `names`
    has more than one where a fault has two directions, such as memory missing and memory added."""

    id: str = Field(pattern=r"^[A-Z]{2}[0-9]{3}$")
    names: tuple[str, ...] = Field(min_length=1)
    severity: Severity
    scope: Scope
    releases: str = "all"
    why: str
    fix: str
    references: tuple[str, ...] = Field(min_length=1)

    @property
    def name(self) -> str:
        """The first of its names."""
        return self.names[0]


@cache
def finding_kinds() -> tuple[FindingKind, ...]:
    """Every row, by id."""
    found = []
    for path in sorted((DATA / "findings").glob("*.yaml")):
        found += [row(FindingKind, raw, path, id_, id=id_) for id_, raw in load(path)["rows"].items()]
    return tuple(sorted(found, key=lambda one: one.id))


@cache
def kinds_by_name() -> dict[str, FindingKind]:
    """By id and by each name, in lower case."""
    named = {one.id.lower(): one for one in finding_kinds()}
    return named | {name: one for one in finding_kinds() for name in one.names}
