"""A difference before its effects are looked up."""

from __future__ import annotations

from dataclasses import dataclass

#: Stands for a row of the catalogue: a copy comes or goes, or has another owner, and what it says stays.
HELD = "held"
#: Likewise: some hosts hold another text than the rest, and nobody knows what they run with.
DRIFT = "drift"


@dataclass(frozen=True)
class Raw:
    """What differs. `keys` are names as the catalogue writes them, `rows` the effects where they are decided
    already, `words` those of a comma list that differ; `unknown`: no release has such a key."""

    file: str
    subject: str
    kind: str
    old: str | None
    new: str | None
    nodes: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    partition: str = ""
    unknown: bool = False
    hosts: tuple[str, ...] = ()
