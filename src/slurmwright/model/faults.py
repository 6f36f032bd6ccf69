"""Gathers everything that is wrong with one file, each with its place, so that all of it is shown at once."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from slurmwright.core.errors import InputError, Problem, did_you_mean, nearest
from slurmwright.core.hosts import expand
from slurmwright.model import plain_words
from slurmwright.model.yaml_source import Source, Where

Model = TypeVar("Model", bound=BaseModel)


#: Required of a loaded cluster, but not of the file.
_OPTIONAL = {"node_types"}


class Faults:
    """The problems found so far in one source."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._found: list[Problem] = []
        self._places: set[tuple[int, int]] = set()
        for problem in source.problems:
            self._note(problem)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, where: Where, message: str, *, key: bool = False) -> None:
        """Note a fault of the value at `where`, or of its key."""
        self._note(self.source.problem(where, message, key))

    def at(self, where: Where) -> bool:
        """Is a fault noted at this very place?"""
        return self.source.place(where) in self._places

    def line(self, where: Where) -> int:
        """The line of the value at `where`, to name a second place in a message."""
        return self.source.place(where)[0]

    def keys(self, data: Mapping[str, Any], fields: Mapping[str, FieldInfo]) -> None:
        """Note every key of the whole file that is not known, and every one that is missing."""
        unknown = [key for key in data if key not in fields]
        for key in unknown:
            self.add((key,), plain_words.unknown_key(key, fields), key=True)
        meant = {nearest(key, fields) for key in unknown}
        for key, field in fields.items():
            if field.is_required() and key not in data and key not in meant | _OPTIONAL:
                self.add((), f"{key} is missing; expected {field.description}")

    def pick(self, where: Where, noun: str, name: str, known: Iterable[str]) -> bool:
        """Is `name` one of the known? Notes it with the nearest name where it is not."""
        names = list(known)
        if name in names:
            return True
        self.add(where, f"{noun} '{plain_words.short(name)}' is not known; {did_you_mean(name, names)}")
        return False

    def expand(self, where: Where, value: Any) -> tuple[str, ...]:
        """A host range, or a list of them, as names in written order; faults give no names."""
        items = value if isinstance(value, list) else [value]
        names: list[str] = []
        for at, item in enumerate(items):
            place = (*where, at) if isinstance(value, list) else where
            if not isinstance(item, str):
                raw = self.source.raw(place)
                shown = plain_words.kind(item) if raw is None else f"'{raw}'"
                self.add(place, f"{shown} is not a host range; expected text such as gpu[001-064]")
                continue
            try:
                names += expand(item)
            except InputError as error:
                self.add(place, error.problems[0].message)
        return tuple(names)

    def build(self, model: type[Model], data: Any, where: Where) -> Model | None:
        """Check one part of the file against its model; None where it has faults."""
        try:
            return model.model_validate(data, strict=True)
        except ValidationError as error:
            title = next((step for step in reversed(where) if isinstance(step, str)), "file")
            raw = functools.partial(self._raw, where)
            for fault in plain_words.explain(error, model, title, raw):
                place = (*where, *fault.where)
                # A value that YAML itself makes doubtful is not judged a second time.
                if fault.key or not self.at(place):
                    self.add(place, fault.message, key=fault.key)
            return None

    def stop(self) -> None:
        """Raise everything found so far."""
        if self._found:
            raise InputError(self._found)

    def _raw(self, where: Where, inner: Where) -> str | None:
        return self.source.raw((*where, *inner))

    def _note(self, problem: Problem) -> None:
        self._found.append(problem)
        self._places.add((problem.line, problem.column))
