"""Finds the line of a bundle that a daemon's message is about; Slurm names the key, seldom the line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from slurmwright.conf import parse
from slurmwright.core.bundle import Bundle

_KEY = re.compile(r"(?:unrecognized|invalid) key: ([A-Za-z0-9_]+)|Parsing error at unrecognized key: (\S+)")


@dataclass(frozen=True)
class Place:
    """One line of one file of the bundle."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def places_of(messages: Iterable[str], bundle: Bundle) -> tuple[Place, ...]:
    """Every line that holds a key which a message calls unknown."""
    keys = {(m[1] or m[2]).lower() for message in messages for m in _KEY.finditer(message)}
    return tuple(_lines_with(keys, bundle)) if keys else ()


def _lines_with(keys: set[str], bundle: Bundle) -> Iterator[Place]:
    for file in bundle.files:
        doc = parse(file.text, file.path)
        for statement in doc.statements:
            if any(pair.key.lower() in keys for pair in statement.pairs):
                text = doc.text[statement.start : statement.end].strip().splitlines()[0]
                yield Place(file.path, statement.line, text)
