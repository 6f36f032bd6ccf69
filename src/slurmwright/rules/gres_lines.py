"""Lines of gres.conf to device records: nodes, name, type, files and cores.

What surprises: without NodeName= a line holds on every node that reads the file; AutoDetect= on a line of its
own is the whole file's. Source: Slurm's src/interfaces/gres.c (_parse_gres_config, _parse_gres_config2).
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import cached_property

from slurmwright.conf import Line, Tree
from slurmwright.rules.brackets import expand_brackets
from slurmwright.rules.node_lines import hosts
from slurmwright.rules.rule import Place

#: More device files than this on one line is a typing error.
MAX_FILES = 4096


@dataclass(frozen=True)
class GresLine:
    """One line. `nodes` is None where it holds for every node; `order` counts the lines of the file."""

    source: Line
    order: int

    @property
    def place(self) -> Place:
        return Place(self.source.doc.file, self.source.statement.line)

    def text(self, *keys: str) -> str:
        """The value of the first of these keys on the line; empty without one."""
        return next((p.value for key in keys if (p := self.source.statement.get(key))), "")

    def has(self, *keys: str) -> bool:
        return any(self.source.statement.get(key) for key in keys)

    @cached_property
    def nodes(self) -> tuple[str, ...] | None:
        """The nodes it is for; empty where the range cannot be read."""
        return hosts(self.text("NodeName")) if self.has("NodeName") else None

    @cached_property
    def name(self) -> str:
        return self.text("Name").lower()

    @cached_property
    def type(self) -> str:
        return self.text("Type")

    @cached_property
    def autodetect(self) -> str:
        return self.text("AutoDetect").lower()

    @property
    def is_global(self) -> bool:
        """Is it an AutoDetect line for the whole file?"""
        return self.source.statement.key.lower() == "autodetect"

    @cached_property
    def files(self) -> tuple[str, ...]:
        """The device files of `File=`, one device each."""
        return expand_files(self.text("File", "Files"))

    @cached_property
    def many_files(self) -> tuple[str, ...]:
        """The files of `MultipleFiles=`, which are one device together."""
        return expand_files(self.text("MultipleFiles"))

    @cached_property
    def cores(self) -> tuple[int, ...] | None:
        """The cores it names; None where it names none or they cannot be read."""
        return numbers(self.text("Cores", "CPUs"))

    @property
    def count(self) -> int:
        """How many devices the line describes."""
        if self.many_files:
            return 1
        if self.files:
            return len(self.files)
        text = self.text("Count")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 18 else 1


def gres_lines(tree: Tree | None) -> tuple[GresLine, ...]:
    """Every line of a gres.conf that begins with AutoDetect, Name or NodeName."""
    lines = tree.lines if tree else ()
    firsts = ("autodetect", "name", "nodename")
    found = (line for line in lines if line.statement.key.lower() in firsts)
    return tuple(GresLine(line, order) for order, line in enumerate(found))


def expand_files(text: str) -> tuple[str, ...]:
    """`/dev/nvidia[0-3],/dev/x` → every path; nothing where there are too many or a range cannot be read."""
    return expand_brackets(text, MAX_FILES)


def numbers(text: str) -> tuple[int, ...] | None:
    """`0-3,8` → (0, 1, 2, 3, 8); None for anything else."""
    found: list[int] = []
    for span in text.split(","):
        match = re.match(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*\Z", span, re.ASCII)
        if not match:
            return None
        low, high = int(match[1]), int(match[2] or match[1])
        if low > high or high - low > 65_535 or len(found) > 65_535:
            return None
        found.extend(range(low, high + 1))
    return tuple(sorted(set(found)))


def fold_numbers(found: tuple[int, ...]) -> str:
    """(0, 1, 2, 5) → `0-2,5`."""
    parts: list[str] = []
    for _, run in itertools.groupby(enumerate(found), key=lambda pair: pair[1] - pair[0]):
        members = [number for _, number in run]
        parts.append(str(members[0]) if len(members) == 1 else f"{members[0]}-{members[-1]}")
    return ",".join(parts)
