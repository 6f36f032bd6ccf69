"""Takes YAML events in turn and builds plain data and its places side by side.

Working on events, not on PyYAML's node graph, means no recursion, no expansion of aliases and no guess about
types: a deep or self-containing document costs no more than its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import yaml

from slurmwright.core.errors import InputError, Problem
from slurmwright.model.yaml_scalars import Scalar, read_plain

MAX_DEPTH = 32


@dataclass(slots=True)
class Spot:
    """Where one value stands (from 1). `raw` is a scalar's text as written, without its quotes; `keys` and
    `parts` hold what a mapping or list contains."""

    line: int
    column: int
    raw: str | None = None
    keys: dict[str, tuple[int, int]] = field(default_factory=dict)
    parts: dict[str | int, Spot] = field(default_factory=dict)


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is still open; `key` is the key whose value comes next."""

    data: Any
    spot: Spot
    key: str | None = None
    skip: bool = False


class Builder:
    """Holds `data`, `root` and `problems` once all events were taken."""

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
