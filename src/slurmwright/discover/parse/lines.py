"""Turns captured output into plain lines, and a doubt about one into an error with line and column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from slurmwright.core.errors import InputError

#: nvidia-smi underlines its header even when its output is no terminal (drivers since about R510).
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]")
_LONGEST = 60


@dataclass(frozen=True)
class Text:
    """One captured output; lines are numbered from 1, columns are those that a person sees."""

    name: str
    lines: tuple[str, ...]

    @classmethod
    def of(cls, text: str, name: str) -> Text:
        plain = _ANSI.sub("", text.removeprefix("\ufeff")).replace("\xa0", " ")
        return cls(name, tuple(line.rstrip("\r") for line in plain.split("\n")))

    def refuse(self, message: str, line: int = 0, column: int = 0) -> NoReturn:
        """Raise InputError at a place of this output."""
        raise InputError.of(message, self.name, line, column)

    def numbered(self) -> tuple[tuple[int, str], ...]:
        """(line number, line) of every line that is not blank."""
        return tuple((number, line) for number, line in enumerate(self.lines, 1) if line.strip())


def shown(value: str) -> str:
    """A piece of output as it may stand in a message: printable, and short."""
    text = value.encode("unicode_escape").decode("ascii")
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
