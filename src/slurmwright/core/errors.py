"""Turns bad input into one line a person can act on: what, where, expected, next.

SlurmwrightError        exit code 2: it could not be done at all
└── InputError          one or many problems of the files or arguments given

Every public function raises one of these for bad input and nothing else; `cli` prints them without a
traceback unless `--debug` is given.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, order=True)
class Problem:
    """One fault of one input. `line` and `column` count from 1; 0 means the whole file. `where` is the way to
    the value in cluster.yaml that it is about, for who knows the file to find the line."""

    file: str
    line: int
    column: int
    message: str
    where: tuple[str | int, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        place = self.file
        if self.line:
            place += f":{self.line}"
            if self.column:
                place += f":{self.column}"
        return f"{place}: {self.message}" if place else self.message


class SlurmwrightError(Exception):
    """A message for the person at the keyboard; no traceback is shown for it."""

    exit_code = 2


class InputError(SlurmwrightError):
    """All problems of an input at once, in the order of their position."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__("\n".join(str(p) for p in self.problems))

    @classmethod
    def of(cls, message: str, file: str = "", line: int = 0, column: int = 0) -> InputError:
        return cls([Problem(file, line, column, message)])


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known name closest to `word`, for a "did you mean"; letter case does not count."""
    folded = {name.lower(): name for name in known}
    match = difflib.get_close_matches(word.lower(), folded, n=1, cutoff=0.6)
    return folded[match[0]] if match else None


def did_you_mean(word: str, known: Iterable[str], limit: int = 12) -> str:
    """A hint that ends an error message: the nearest name, or the short list of what is known."""
    names: Sequence[str] = sorted(known)
    longer = [name for name in names if len(word) > 2 and name.lower().startswith(f"{word.lower()}-")]
    if 0 < len(longer) < 4:
        return "did you mean " + " or ".join(f"'{name}'" for name in longer) + "?"
    near = nearest(word, names)
    if near is not None:
        return f"did you mean '{near}'?"
    if len(names) <= limit:
        return "known: " + ", ".join(names)
    return f"known: {', '.join(names[:limit])} and {len(names) - limit} more"
