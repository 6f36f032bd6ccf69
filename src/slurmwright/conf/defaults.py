"""NodeName, PartitionName and FrontendName lines to what they say with the DEFAULT lines before them.

What surprises: a DEFAULT line holds for the lines after it only, and a later one adds to the earlier ones
instead of replacing them. Source: Slurm's src/common/read_config.c (_parse_nodename, _parse_partitionname).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from slurmwright.conf.document import Document
from slurmwright.conf.values import Pair, Statement

# Slurm reads these from the line itself alone; the first three and FrontendAddr are errors on a DEFAULT line.
_NEVER_INHERITED = frozenset({"nodeaddr", "nodehostname", "bcastaddr", "frontendaddr", "gresconf"})
_FEATURES = frozenset({"feature", "features"})  # the one pair of names that Slurm takes for the same key


@dataclass(frozen=True)
class EffectiveLine:
    """One line and the pairs that it takes from DEFAULT lines, which keep the places they were written at.

    Each key is looked up for itself, as Slurm does; what CPUs together with Procs, or Sockets together with
    SocketsPerBoard mean is the reader's to know.
    """

    statement: Statement
    inherited: tuple[Pair, ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs that hold, the line's own first."""
        return self.statement.pairs + self.inherited

    def get(self, key: str) -> Pair | None:
        """The pair that counts for `key`: the line's own, else the inherited one."""
        wanted = key.lower()
        own = self.statement.get(key)
        return own or next((p for p in self.inherited if p.key.lower() == wanted), None)


def effective_lines(doc: Document, first_key: str) -> tuple[EffectiveLine, ...]:
    """The lines that begin with `first_key`, DEFAULT lines applied and left out."""
    return with_defaults(doc.lines(first_key))


def with_defaults(statements: Iterable[Statement]) -> tuple[EffectiveLine, ...]:
    """The same for statements of one kind from several files, in the order in which Slurm reads them."""
    defaults: dict[str, Pair] = {}
    lines: list[EffectiveLine] = []
    for statement in statements:
        if statement.pairs[0].value.lower() == "default":
            new = {p.key.lower(): p for p in statement.pairs[1:]}
            defaults |= {key: pair for key, pair in new.items() if key not in _NEVER_INHERITED}
        else:
            own = {p.key.lower() for p in statement.pairs}
            if own & _FEATURES:
                own |= _FEATURES
            lines.append(EffectiveLine(statement, tuple(p for k, p in defaults.items() if k not in own)))
    return tuple(lines)
