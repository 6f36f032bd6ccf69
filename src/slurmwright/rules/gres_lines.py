"""Lines of gres.conf to device records: nodes, name, type, files and cores.

What surprises: without NodeName= a line holds on every node that reads the file; AutoDetect= on a line of its
own is the whole file's. Source: Slurm's src/interfaces/gres.c (_parse_gres_config, _parse_gres_config2).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from slurmwright.conf import Line, Tree
from slurmwright.rules.brackets import expand_brackets
from slurmwright.rules.node_lines import hosts
from slurmwright.rules.rule import Place

#: More device files than this on one line is a typing error.
MAX_FILES = 4096
#: So many nodes of all lines together are looked at; a line for each GPU of a large cluster is below it.
MAX_NODES = 1_000_000


@dataclass(frozen=True, eq=False)
class GresLine:
    """One line, worked out when it is read: every rule about devices asks it.

    `nodes` is None where it holds for every node, and empty where the range cannot be read; `order` counts
    the lines of the file. `files` are devices of their own, `many_files` one device together; `cores` is
    None where it names none or they cannot be read; `count` is how many devices it describes; `is_global`
    tells an AutoDetect line for the whole file.
    """

    source: Line
    order: int
    values: Mapping[str, str]
    nodes: tuple[str, ...] | None
    name: str
    type: str
    autodetect: str
    files: tuple[str, ...]
    many_files: tuple[str, ...]
    cores: tuple[int, ...] | None
    count: int
    is_global: bool

    @property
    def place(self) -> Place:
        return Place(self.source.doc.file, self.source.statement.line)

    def text(self, *keys: str) -> str:
        """The value of the first of these keys on the line; empty without one."""
        for key in keys:
            found = self.values.get(key.lower())
            if found is not None:
                return found
        return ""

    def has(self, *keys: str) -> bool:
        return any(key.lower() in self.values for key in keys)


def gres_lines(tree: Tree | None) -> tuple[GresLine, ...]:
    """Every line of a gres.conf that begins with AutoDetect, Name or NodeName."""
    lines = tree.lines if tree else ()
    found = (line for line in lines if line.statement.key.lower() in ("autodetect", "name", "nodename"))
    result: list[GresLine] = []
    total = 0
    for order, line in enumerate(found):
        one = _gres_line(line, order, total <= MAX_NODES)
        result.append(one)
        total += len(one.nodes or ())
    return tuple(result)


def _gres_line(line: Line, order: int, expand: bool) -> GresLine:
    values = {pair.key.lower(): pair.value for pair in line.statement.pairs}
    files = expand_files(values.get("file", values.get("files", "")))
    many = expand_files(values.get("multiplefiles", ""))
    cores = values.get("cores", values.get("cpus"))
    count = values.get("count", "")
    given = int(count) if count.isascii() and count.isdigit() and len(count) < 18 else 1
    return GresLine(
        source=line,
        order=order,
        values=values,
        nodes=None if "nodename" not in values else hosts(values["nodename"]) if expand else (),
        name=values.get("name", "").lower(),
        type=values.get("type", ""),
        autodetect=values.get("autodetect", "").lower(),
        files=files,
        many_files=many,
        cores=numbers(cores) if cores is not None else None,
        count=1 if many else len(files) or given,
        is_global=line.statement.key.lower() == "autodetect",
    )


@lru_cache(maxsize=256)
def expand_files(text: str) -> tuple[str, ...]:
    """`/dev/nvidia[0-3],/dev/x` → every path; nothing where there are too many or a range cannot be read."""
    return expand_brackets(text, MAX_FILES)


@lru_cache(maxsize=256)
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
