"""Turns a YAML file into plain data that remembers the line and column of every key and value.

A small, safe part of YAML is taken: one document of mappings, lists and scalars. Aliases, tags, duplicate
keys and tabs are refused with their place. The file is read event by event, so that neither a deep nor a
self-containing document costs more than its bytes.
"""

from __future__ import annotations

import itertools
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from slurmwright.core.errors import InputError, Problem
from slurmwright.model.yaml_scalars import Scalar, read_plain

MAX_BYTES = 5_000_000
MAX_DEPTH = 32

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


@dataclass(slots=True)
class Spot:
    """Where one value stands (from 1). `raw` is a scalar's text as written, without its quotes; `keys` and
    `parts` hold what a mapping or list contains."""

    line: int
    column: int
    raw: str | None = None
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    parts: dict[str | int, Spot] = field(default_factory=dict)


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
    return parse_yaml(_text_of(path), str(path))


def parse_yaml(text: str, file: str) -> Source:
    """As `read_yaml`, from text that is already there."""
    problems = list(_bad_characters(text, file))
    if problems:
        raise InputError(problems)
    builder = _Builder(file)
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


def _text_of(path: Path) -> str:
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


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is still open; `key` is the key whose value comes next."""

    data: Any
    spot: Spot
    key: str | None = None
    skip: bool = False


class _Builder:
    """Takes YAML events in turn and builds data and places side by side."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.data: Any = None
        self.root: Spot | None = None
        self._open: list[_Frame] = []

    def take(self, event: Any) -> None:
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._start(event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            frame = self._open.pop()
            self._place(frame.data, frame.spot)
        elif isinstance(event, yaml.AliasEvent):
            self._stop(event, f"alias *{event.anchor} is not taken; write the value out, or use extends")
        elif isinstance(event, yaml.DocumentStartEvent) and self.root is not None:
            self._stop(event, "a second YAML document begins here; expected one document in a file")

    def _stop(self, event: Any, message: str) -> None:
        raise InputError([*self.problems, self._problem(event, message)])

    def _problem(self, event: Any, message: str) -> Problem:
        return Problem(self.file, event.start_mark.line + 1, event.start_mark.column + 1, message)

    def _start(self, event: Any) -> None:
        self._refuse_extras(event)
        mapping = isinstance(event, yaml.MappingStartEvent)
        if self._wants_key():
            self._stop(event, "a key is a mapping or list; expected a word")
        if len(self._open) >= MAX_DEPTH:
            self._stop(event, f"nested more than {MAX_DEPTH} deep; nothing here needs that")
        self._open.append(_Frame({} if mapping else [], self._spot(event)))

    def _scalar(self, event: Any) -> None:
        self._refuse_extras(event)
        if self._wants_key():
            self._key(event)
            return
        value: Scalar = event.value
        if not event.style:
            value, trap = read_plain(event.value)
            if trap and not (self._open and self._open[-1].skip):
                self.problems.append(self._problem(event, trap))
        spot = self._spot(event)
        spot.raw = event.value
        self._place(value, spot)

    def _key(self, event: Any) -> None:
        frame, name = self._open[-1], event.value
        frame.key = name
        frame.skip = name in frame.spot.keys
        if frame.skip:
            line = frame.spot.keys[name][0]
            message = f"key '{_short(name)}' stands twice in one mapping, first in line {line}; keep one"
            self.problems.append(self._problem(event, message))
        else:
            frame.spot.keys[name] = (event.start_mark.line + 1, event.start_mark.column + 1)

    def _place(self, value: Any, spot: Spot) -> None:
        if not self._open:
            self.data, self.root = value, spot
            return
        frame = self._open[-1]
        if isinstance(frame.data, list):
            frame.spot.parts[len(frame.data)] = spot
            frame.data.append(value)
        elif frame.key is not None:
            if not frame.skip:
                frame.data[frame.key] = value
                frame.spot.parts[frame.key] = spot
            frame.key, frame.skip = None, False

    def _wants_key(self) -> bool:
        return bool(self._open) and isinstance(self._open[-1].data, dict) and self._open[-1].key is None

    def _refuse_extras(self, event: Any) -> None:
        if event.tag is not None:
            self.problems.append(self._problem(event, f"tag {_short(event.tag)} is not taken; leave it out"))
        if event.anchor is not None:
            message = f"anchor &{_short(event.anchor)} is not taken; write values out, or use extends"
            self.problems.append(self._problem(event, message))

    def _spot(self, event: Any) -> Spot:
        return Spot(event.start_mark.line + 1, event.start_mark.column + 1)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
