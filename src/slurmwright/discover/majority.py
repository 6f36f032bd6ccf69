"""Finds what most hosts have, so that one wrong row of a catalogue does not accuse them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

Value = TypeVar("Value", bound=Hashable)


@dataclass(frozen=True)
class Majority(Generic[Value]):
    """`value` is that of more than half; None where there is none, and then `sides` are all there are."""

    value: Value | None
    count: int
    outliers: tuple[str, ...]
    sides: tuple[tuple[Value, tuple[str, ...]], ...]


def majority(values: Mapping[str, Value]) -> Majority[Value]:
    """Of hosts and their values; one host alone is its own majority."""
    counts = Counter(values.values())
    sides = tuple(
        (value, tuple(host for host, own in values.items() if own == value))
        for value, _ in counts.most_common()
    )
    if not sides:
        return Majority(None, 0, (), ())
    value, hosts = sides[0]
    if 2 * len(hosts) <= len(values):
        return Majority(None, 0, (), sides)
    return Majority(value, len(hosts), tuple(host for host in values if values[host] != value), sides)
