"""Why NCCL is slower than it can be: the likely causes in their order, by where and on which network."""

from __future__ import annotations

from functools import cache
from typing import Literal

from slurmwright.catalogue.read import DATA, Row, load, row

Where = Literal["all", "node", "rail", "inside", "small"]


class NcclCause(Row):
    """One cause and how to look for it."""

    where: Where
    fabrics: tuple[str, ...] = ()
    cause: str
    check: str


@cache
def _rows() -> tuple[NcclCause, ...]:
    path = DATA / "nccl_causes.yaml"
    return tuple(row(NcclCause, raw, path, f"rows.{at}") for at, raw in enumerate(load(path)["rows"]))


def likely_causes(where: Where, fabric: str) -> tuple[NcclCause, ...]:
    """The likeliest first."""
    return tuple(one for one in _rows() if one.where == where and (not one.fabrics or fabric in one.fabrics))
