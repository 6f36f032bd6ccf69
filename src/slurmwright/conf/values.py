"""What a file of Slurm's holds: pairs, statements and includes with their places in the text, and edits.

Offsets (`start`, `end`, …) index the text of the Document they came from and are stale after an edit. Lines
and columns count from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

#: Keys whose line goes on with further pairs; after any other first key Slurm refuses the rest of the line.
#: Source: every table entry with a line handler in Slurm 22.05 to 26.05 (slurm.conf, gres.conf,
#: topology.conf, helpers.conf, job_container.conf).
RECORD_KEYS = frozenset(
    {
        "nodename",
        "partitionname",
        "frontendname",
        "downnodes",
        "nodeset",
        "poweraction",
        "name",
        "switchname",
        "blockname",
        "ringname",
        "feature",
        "basepath",
    }
)


class Pair(NamedTuple):
    """One `key=value`; the key as written, the value as Slurm sees it (without quotes and escapes).

    The text runs from `start` (key) over `value_start` to `end` (both quotes included). `operator` is the
    sign of `key+=value`, which Slurm reads and slurm.conf ignores.
    """

    key: str
    value: str
    operator: str
    line: int
    column: int
    start: int
    value_start: int
    end: int


class Statement(NamedTuple):
    """One line as Slurm joins it (continuations included) that holds more than blanks and comments.

    `start` to `end` is all its physical lines with their line ends. `rest` is what Slurm cannot read, from
    the first word that is no pair to the end; empty on a clean line.
    """

    line: int
    start: int
    end: int
    pairs: tuple[Pair, ...]
    rest: str

    @property
    def key(self) -> str:
        """The key that begins the line, as written; empty where nothing could be read."""
        return self.pairs[0].key if self.pairs else ""

    def get(self, key: str) -> Pair | None:
        """The pair of this line that counts for `key`: the last one, as in Slurm; letter case is ignored."""
        wanted = key.lower()
        return next((p for p in reversed(self.pairs) if p.key.lower() == wanted), None)


class Include(NamedTuple):
    """An `Include NAME` line. A relative name lies beside slurm.conf, `%c` stands for the cluster name."""

    line: int
    start: int
    end: int
    name: str
    column: int

    @property
    def key(self) -> str:
        return "Include"


@dataclass(frozen=True)
class Edit:
    """One change of a file; `old` is None for what was added, `new` for what was removed.

    `line` is the line in the text before the batch of edits it belongs to. `key` is the first key of the
    line where a whole line was changed, and `old` and `new` are then whole lines.
    """

    file: str
    line: int
    key: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.file else f"line {self.line}"
        if self.old is None:
            return f"{place}: {self.key} added: {self.new}"
        if self.new is None:
            return f"{place}: {self.key} removed, was {self.old}"
        return f"{place}: {self.key}: {self.old} -> {self.new}"

    def as_json(self) -> dict[str, object]:
        return {
            "file": self.file,
            "line": self.line,
            "key": self.key,
            "old": self.old,
            "new": self.new,
        }
