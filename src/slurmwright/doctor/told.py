"""What a look at a host tells: a cause, with the lines that show it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from slurmwright.core.finding import Severity
from slurmwright.doctor.host import Host
from slurmwright.doctor.scan import Hit, printable
from slurmwright.rules.rule import NOWHERE, Place


@dataclass(frozen=True)
class Told:
    """One cause on one host.

    `kind` is its row in the catalogue, which has why, and the fix where none is given here; `hits` are the
    lines it explains, `seen` what else shows it, `also` other kinds of lines that follow from it. `nodes` is
    given where it is about other hosts than the one that showed it.
    """

    kind: str
    message: str
    hits: tuple[Hit, ...] = ()
    seen: tuple[str, ...] = ()
    fix: str = ""
    place: Place = NOWHERE
    severity: Severity | None = None
    nodes: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def evidence(self) -> tuple[str, ...]:
        lines = [
            f"{hit.place} (and {hit.count - 1} more)" if hit.count > 1 else hit.place for hit in self.hits
        ]
        return tuple(dict.fromkeys([*lines[:6], *map(printable, self.seen)]))

    @property
    def explains(self) -> frozenset[str]:
        """The kinds of lines that need no other explanation on this host."""
        return frozenset((*(hit.sign for hit in self.hits), *self.also))


Look = Callable[[Host], Iterator[Told]]


def each(hits: Iterable[Hit], part: str) -> tuple[str, ...]:
    """The values of one part of these lines, each once."""
    return tuple(dict.fromkeys(value for hit in hits if (value := hit.part(part))))
