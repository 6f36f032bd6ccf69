"""The text of one file to a frozen Document that can be asked and edited, and back to the same text.

What surprises: an edit gives a new Document, and the statements of the old one do not fit it. To change many
lines, compute the changes on one document with `conf.changes` and `apply` them together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from slurmwright.conf import changes
from slurmwright.conf.reader import read
from slurmwright.conf.values import RECORD_KEYS, Edit, Include, Pair, Statement
from slurmwright.core.errors import Problem


def parse(text: str, file: str = "") -> Document:
    """Read a file's text; `file` is the name that problems and edits carry. Never raises for bad text."""
    return Document(text, file, *read(text, file))


@dataclass(frozen=True)
class Document:
    """One file. `problems` are the lines at which Slurm reports a parse error and does not start.

    Limits: keys, values and plugins are not judged; includes are named, not followed (so `get` and DEFAULT
    lines see this file only); text with bytes that are not UTF-8 is the caller's to decode, for instance with
    `errors="surrogateescape"`; a comment between the lines of one continued value goes when that is set anew.
    """

    text: str
    file: str
    statements: tuple[Statement, ...]
    includes: tuple[Include, ...]
    problems: tuple[Problem, ...]
    edits: tuple[Edit, ...] = ()

    @cached_property
    def _by_key(self) -> dict[str, tuple[Statement, ...]]:
        found: dict[str, list[Statement]] = {}
        for statement in self.statements:
            if statement.pairs:
                found.setdefault(statement.key.lower(), []).append(statement)
        return {key: tuple(lines) for key, lines in found.items()}

    def lines(self, first_key: str) -> tuple[Statement, ...]:
        """The statements that begin with this key, in order; letter case is ignored."""
        return self._by_key.get(first_key.lower(), ())

    def get(self, key: str) -> Pair | None:
        """The pair that counts for a global key: the last one. None for keys that begin a record.

        Keys that Slurm collects (SlurmctldHost; Prolog and Epilog from 24.05) have more: see `lines`.
        """
        found = self.lines(key)
        return found[-1].pairs[0] if found and key.lower() not in RECORD_KEYS else None

    def set(self, key: str, value: str) -> Document:
        """Give a global key a value, in its last line or in a new line at the end."""
        return self.apply(changes.set_key(self, key, value))

    def unset(self, key: str) -> Document:
        """Take a global key out, wherever it stands."""
        return self.apply(changes.unset_key(self, key))

    def set_on(self, statement: Statement, key: str, value: str) -> Document:
        """Give a key of one line a value."""
        return self.apply(changes.set_pair(self, statement, key, value))

    def unset_on(self, statement: Statement, key: str) -> Document:
        """Take a key off one line."""
        return self.apply(changes.unset_pair(self, statement, key))

    def replace_line(self, item: Statement | Include, line: str) -> Document:
        """Put one line in the place of a statement or include."""
        return self.apply(changes.replace_line(self, item, line))

    def remove_statement(self, item: Statement | Include) -> Document:
        """Remove a statement or include with all its physical lines."""
        return self.apply(changes.remove_line(self, item))

    def append_line(self, line: str) -> Document:
        """Add one line at the end."""
        return self.apply(changes.append_line(self, line))

    def apply(self, what: Iterable[changes.Change]) -> Document:
        """Make many changes that were computed on this document, in one pass; `edits` grows by theirs."""
        wanted = list(what)
        if not wanted:
            return self
        text, edits = changes.apply_changes(self.text, wanted)
        return Document(text, self.file, *read(text, self.file), edits=self.edits + edits)
