"""All pairs of all files to what the catalogue knows of each: every key once, and every value of a key once.

Ten thousand node lines repeat the same few keys, so rules about keys look at each key with the places it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from slurmwright.catalogue.options import ConfFile, Option, conf_file
from slurmwright.conf import Line, Pair, Setting
from slurmwright.conf.values import RECORD_KEYS
from slurmwright.rules.config import PLAIN_FILES, Config

#: Values of one key beyond these are not told apart: node addresses, and the values of a broken file.
MAX_VALUES = 2_000


class SeenKey(NamedTuple):
    """One key of one section of one file: its row (None where Slurm has no such key) and its places."""

    file: str
    section: str
    option: Option | None
    first: Setting
    places: int
    values: tuple[Setting, ...]

    @property
    def more(self) -> str:
        """`, and on 9 more lines`, or nothing."""
        return f", and on {self.places - 1} more lines" if self.places > 1 else ""


@dataclass
class _Gathered:
    section: str
    first: Setting
    count: int = 0
    values: dict[str, Setting] = field(default_factory=dict)


def keys_seen(config: Config) -> tuple[SeenKey, ...]:
    """Every key of every file that has a table in the catalogue."""
    return tuple(key for name in PLAIN_FILES for key in _of_file(config, name))


def _of_file(config: Config, name: str) -> Iterator[SeenKey]:
    tree, table = config.tree(name), conf_file(name)
    if tree is None or table is None:
        return
    found: dict[tuple[str, str], _Gathered] = {}
    for line in tree.lines:
        first = line.statement.key.lower()
        section = _section(name, first, line)
        for pair in line.statement.pairs:
            key = (section, pair.key.lower())
            one = found.get(key)
            if one is None:
                one = found[key] = _Gathered(section, Setting(line.doc, pair))
            one.count += 1
            if len(one.values) < MAX_VALUES and pair.value not in one.values:
                one.values[pair.value] = Setting(line.doc, pair)
    for (section, name_of_key), one in found.items():
        option = _option(table, section, name_of_key)
        yield SeenKey(name, section, option, one.first, one.count, tuple(one.values.values()))


def _section(name: str, first: str, line: Line) -> str:
    if name == "gres.conf":
        # AutoDetect= on a line of its own is the file's, everything else belongs to a line.
        return "global" if first == "autodetect" and len(line.statement.pairs) == 1 else "line"
    return first if first in RECORD_KEYS else "global"


def _option(table: ConfFile, section: str, key: str) -> Option | None:
    """The row of a key; files with one kind of line have it in that section or as a global key."""
    found = table.options.get((section, key))
    if found is None and table.file in ("job_container.conf", "helpers.conf"):
        found = next((row for (_, name), row in table.options.items() if name == key), None)
    return found


def repeated(line: Line) -> Iterator[tuple[Pair, Pair]]:
    """Keys that one line has twice, first and last."""
    seen: dict[str, Pair] = {}
    for pair in line.statement.pairs:
        before = seen.setdefault(pair.key.lower(), pair)
        if before is not pair:
            yield before, pair
