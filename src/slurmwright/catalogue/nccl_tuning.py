"""The settings that are tried when NCCL is tuned, by network, and the sizes that count."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from slurmwright.catalogue.read import DATA, load


@cache
def _table() -> Mapping[str, Any]:
    return load(DATA / "nccl_tuning.yaml")


def tried(fabric: str) -> dict[str, tuple[str | None, ...]]:
    """Variable → values, None for NCCL's own choice first."""
    rows = _table().get(fabric) or {}
    return {name: tuple(None if v is None else str(v) for v in values) for name, values in rows.items()}


def weights() -> dict[int, float]:
    """Size in bytes → its weight in the score."""
    return {int(size): float(weight) for size, weight in _table()["weights"].items()}
