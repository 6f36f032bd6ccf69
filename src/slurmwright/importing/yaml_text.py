"""Values with notes to the text of a YAML file: `key: value  # where it came from`.

Every scalar is quoted that some YAML reader could take for something else, as the loader asks for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.model.yaml_scalars import read_plain

_PLAIN = re.compile(r"[A-Za-z0-9/][A-Za-z0-9/._+-]*(?: [A-Za-z0-9/._+-]+)*\Z")
#: Notes begin in this column where the text leaves room.
_COLUMN = 48


@dataclass(frozen=True)
class Noted:
    """A value, and the comment that goes with it."""

    value: object
    note: str


@dataclass(frozen=True)
class Flow:
    """A mapping or list that stands on one line."""

    value: object


def yaml_text(data: Mapping[str, object]) -> str:
    """The text of a whole file."""
    return "".join(f"{line}\n" for line in _mapping(data, ""))


def scalar(value: object) -> str:
    """A scalar as YAML takes it for this very value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    text = str(value)
    plain = _PLAIN.match(text) is not None and read_plain(text) == (text, None)
    return text if plain else json.dumps(text)


def _mapping(data: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, value in data.items():
        yield from _entry(f"{indent}{scalar(key)}:", value, indent)


def _entry(head: str, value: object, indent: str) -> Iterator[str]:
    note = ""
    if isinstance(value, Noted):
        note, value = value.note, value.value
    if isinstance(value, Mapping) and value:
        yield _noted(head, note)
        yield from _mapping(value, indent + "  ")
    elif isinstance(value, list) and value and any(isinstance(_bare(v), Mapping | Flow) for v in value):
        yield _noted(head, note)
        for item in value:
            yield from _item(item, indent + "  ")
    else:
        yield _noted(f"{head} {_flow(value)}", note)


def _item(item: object, indent: str) -> Iterator[str]:
    inner = _bare(item)
    note = item.note if isinstance(item, Noted) else ""
    if not isinstance(inner, Mapping):
        yield _noted(f"{indent}- {_flow(inner)}", note)
        return
    if note:
        yield f"{indent}# {note}"
    lines = list(_mapping(inner, indent + "  "))
    yield f"{indent}- {lines[0][len(indent) + 2 :]}"
    yield from lines[1:]


def _flow(value: object) -> str:
    value = _bare(value)
    if isinstance(value, Flow):
        value = value.value
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {_flow(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return scalar(value)


def _bare(value: object) -> object:
    return value.value if isinstance(value, Noted) else value


def _noted(text: str, note: str) -> str:
    clean = "".join(char if char.isprintable() and char.isascii() else "?" for char in note)
    return f"{text:<{_COLUMN - 2}}  # {clean}" if clean else text
