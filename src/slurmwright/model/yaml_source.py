"""Turns a YAML file into plain data that remembers the line and column of every key and value.

A small, safe part of YAML is taken: one document of mappings, lists and scalars. Aliases, tags, duplicate
keys and tabs are refused with their place.
"""

from __future__ import annotations

import itertools
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from slurmwright.core.errors import InputError, Problem
from slurmwright.model.yaml_builder import Builder, Spot

MAX_BYTES = 5_000_000

Where = tuple[str | int, ...]
_BAD = (
    (
        re.compile(r"^ *\t(?=[ \t]*[^ \t\r\n])", re.MULTILINE),
        "a tab indents this line; YAML takes only spaces",
    ),
    (
        re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]|\r(?!\n)"),
        "control character U+{code:04X}; remove it",
    ),
)
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True)
class Source:
    """One file: its data, the places in it, and what is wrong with it as YAML."""

    file: str
    data: Any
    root: Spot
    problems: tuple[Problem, ...] = ()

    def spot(self, path: Where) -> Spot | None:
        """The place of the value at `path`, None where the file has none."""
        at: Spot | None = self.root
        for step in path:
            at = at.parts.get(step) if at else None
        return at

    def raw(self, path: Where) -> str | None:
        """A scalar as it was written."""
        spot = self.spot(path)
        return spot.raw if spot else None

    def place(self, path: Where, key: bool = False) -> tuple[int, int]:
        """Line and column of the value at `path` (or of its key); of the nearest thing above it that exists,
        since a short form leaves out steps and a missing key has no place of its own."""
        at, found = self.root, (self.root.line, self.root.column)
        for depth, step in enumerate(path):
            inner = at.parts.get(step)
            if inner is None:
                break
            last = depth == len(path) - 1
            by_key = isinstance(step, str) and ((key and last) or (not last and inner.raw is None))
            found = at.keys[str(step)] if by_key else (inner.line, inner.column)
            at = inner
        return found

    def problem(self, path: Where, message: str, key: bool = False) -> Problem:
        """A problem of the value (or key) at `path`."""
        return Problem(self.file, *self.place(path, key), message)


def read_yaml(path: Path) -> Source:
    """Read one file; raises InputError where nothing can be made of it, and otherwise collects problems."""
    return parse_yaml(text_of(path), str(path))


def parse_yaml(text: str, file: str) -> Source:
    """As `read_yaml`, from text that is already there."""
    problems = list(_bad_characters(text, file))
    if problems:
        raise InputError(problems)
    builder = Builder(file)
    try:
        for event in yaml.parse(text, Loader=_LOADER):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise InputError([*builder.problems, _syntax_problem(error, text, file)]) from None
    except yaml.YAMLError as error:
        raise InputError.of(f"is not YAML: {str(error).splitlines()[0]}", file) from None
    if builder.root is None:
        raise InputError.of("is empty; expected a mapping of keys to values", file)
    return Source(file, builder.data, builder.root, tuple(builder.problems))


def text_of(path: Path) -> str:
    """The text of one file; InputError where it cannot be read."""
    file = str(path)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError.of("is not a regular file; expected a YAML file", file)
        if status.st_size > MAX_BYTES:
            raise InputError.of(
                f"is {status.st_size} bytes long; expected a YAML file of at most {MAX_BYTES} bytes", file
            )
        raw = path.read_bytes()
    except FileNotFoundError:
        raise InputError.of("does not exist; `slurmwright init` writes a first cluster.yaml", file) from None
    except OSError as error:
        raise InputError.of(f"cannot be read: {error.strerror or error}", file) from None
    except ValueError as error:
        raise InputError.of(f"is no path: {error}", file.replace("\0", "?")) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError.of(
            f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8", file, line
        ) from None


def _bad_characters(text: str, file: str) -> Iterator[Problem]:
    """Tabs where YAML counts indentation, and characters that no editor shows (20 of each at most)."""
    for pattern, message in _BAD:
        for match in itertools.islice(pattern.finditer(text), 20):
            at = match.end() - 1
            line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            yield Problem(file, line, column, message.format(code=ord(text[at])))


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, file: str) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
    reason = error.problem or error.context or "syntax error"
    lines = text.split("\n")
    if "\t" in (lines[line - 1] if 0 < line <= len(lines) else ""):
        reason += "; the line holds a tab, YAML takes spaces"
    elif "cannot start any token" in reason:
        reason += "; put a value that begins with such a character in quotes"
    elif "mapping values are not allowed" in reason:
        reason += "; put a value that contains ': ' in quotes, or look at the indentation"
    return Problem(file, line, column, f"is not YAML: {reason}")
