"""A file and everything it includes to one sequence of lines, as Slurm reads them, each with its place.

What surprises: from 23.02 a relative name lies beside slurm.conf, wherever the Include stands, and in 22.05
beside the file that includes it; `%c` is the cluster name in lower case; a pattern with `*` is refused; a
missing file stops the daemon after a minute. Slurm itself has no guard against a file that includes itself
(src/common/parse_config.c); here it is a fault.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from slurmwright.conf.defaults import EffectiveLine, with_defaults
from slurmwright.conf.document import Document, parse
from slurmwright.conf.values import RECORD_KEYS, Include, Pair, Statement

#: More files or characters than this in one configuration is a mistake of whoever generates it.
MAX_FILES = 2_000
MAX_TEXT = 64_000_000

#: The text of the file at an absolute path, or None where there is none.
Reader = Callable[[str], str | None]


class Line(NamedTuple):
    """One statement and the document that holds it."""

    doc: Document
    statement: Statement


class Setting(NamedTuple):
    """One pair and the document that holds it."""

    doc: Document
    pair: Pair

    @property
    def value(self) -> str:
        return self.pair.value

    @property
    def line(self) -> int:
        return self.pair.line


class Record(NamedTuple):
    """A NodeName, PartitionName … line with what it takes from DEFAULT lines, and its document."""

    doc: Document
    line: EffectiveLine


class IncludeFault(NamedTuple):
    """An Include that Slurm cannot follow: `kind` is `missing`, `loop`, `pattern`, `cluster-name` or `many`.

    Two kinds were followed and hold for some releases only: `not-beside-slurm-conf` fails from 23.02 on, and
    `not-beside-its-file` fails in 22.05.
    """

    doc: Document
    line: int
    name: str
    kind: str


@dataclass(frozen=True)
class Tree:
    """One file with its includes; `documents` begins with the file itself."""

    documents: tuple[Document, ...]
    lines: tuple[Line, ...]
    faults: tuple[IncludeFault, ...]

    @property
    def top(self) -> Document:
        """The file itself."""
        return self.documents[0]

    @cached_property
    def _by_key(self) -> dict[str, list[Line]]:
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.statement.key.lower(), []).append(line)
        return found

    def all(self, first_key: str) -> tuple[Line, ...]:
        """Every line that begins with this key, in reading order; letter case is ignored."""
        return tuple(self._by_key.get(first_key.lower(), ()))

    def get(self, key: str) -> Setting | None:
        """The setting that counts for a global key: the last one."""
        found = self._by_key.get(key.lower())
        if not found or key.lower() in RECORD_KEYS:
            return None
        return Setting(found[-1].doc, found[-1].statement.pairs[0])

    def records(self, first_key: str) -> tuple[Record, ...]:
        """The lines that begin with this key, DEFAULT lines applied and left out."""
        found = self.all(first_key)
        own = [line.doc for line in found if line.statement.pairs[0].value.lower() != "default"]
        effective = with_defaults(line.statement for line in found)
        return tuple(Record(doc, line) for doc, line in zip(own, effective, strict=True))


def read_tree(path: str, read: Reader) -> Tree | None:
    """The file at `path` (absolute, as on the host) with its includes; None where there is no such file."""
    text = read(path)
    if text is None:
        return None
    reading = _Reading(posixpath.dirname(path), read)
    lines = tuple(reading.follow(parse(text, path), (path,)))
    return Tree(tuple(reading.documents), lines, tuple(reading.faults))


class _Reading:
    """What is gathered while includes are followed."""

    def __init__(self, folder: str, read: Reader) -> None:
        self._folder, self._read = folder, read
        self._cluster: str | None = None
        self._size = 0
        self.documents: list[Document] = []
        self.faults: list[IncludeFault] = []

    def follow(self, doc: Document, stack: tuple[str, ...]) -> Iterator[Line]:
        self.documents.append(doc)
        if not doc.includes:
            for statement in doc.statements:
                yield self._line(doc, statement)
            return
        items: list[Statement | Include] = [*doc.statements, *doc.includes]
        items.sort(key=lambda one: one.start)
        for item in items:
            if isinstance(item, Statement):
                yield self._line(doc, item)
                continue
            inner, fault = self._included(item.name, stack)
            if fault and item.name:
                self.faults.append(IncludeFault(doc, item.line, item.name, fault))
            if inner is not None:
                yield from self.follow(inner, (*stack, inner.file))

    def _line(self, doc: Document, statement: Statement) -> Line:
        if self._cluster is None and statement.key.lower() == "clustername":
            self._cluster = statement.pairs[0].value.lower()
        return Line(doc, statement)

    def _included(self, name: str, stack: tuple[str, ...]) -> tuple[Document | None, str]:
        if "%c" in name and self._cluster is None:
            return None, "cluster-name"
        named = name.replace("%c", self._cluster or "")
        if "*" in named:
            return None, "pattern"
        path, text, fault = self._find(named, posixpath.dirname(stack[-1]))
        if path in stack or len(stack) > 50:
            return None, "loop"
        if text is None:
            return None, "missing"
        self._size += len(text)
        if len(self.documents) >= MAX_FILES or self._size > MAX_TEXT:
            return None, "many"
        return parse(text, path), fault

    def _find(self, name: str, own_folder: str) -> tuple[str, str | None, str]:
        """The path and text of an included file, and the fault of a name that means two places."""
        path = posixpath.normpath(posixpath.join(self._folder, name))
        other = posixpath.normpath(posixpath.join(own_folder, name))
        text = self._read(path)
        if path == other:
            return path, text, ""
        if text is not None:
            return path, text, "not-beside-its-file"
        return other, self._read(other), "not-beside-slurm-conf"
