"""Turns facts that a program wrote as JSON into data, quickly, and facts into such text.

JSON is read many times as fast as YAML with its places. What is wrong in a file is found again by the YAML
reader, which takes the same text (JSON is YAML) and knows every line and column: so this reader only says
"data" or "look again".
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from pydantic import BaseModel

_OWN = re.compile(
    r'"host": "(?P<host>[A-Za-z0-9][A-Za-z0-9_.-]*)"|"real_memory_mb": (?P<memory>[1-9][0-9]{0,11})(?=[\s,}])'
)


class Own(NamedTuple):
    """What is a host's own in the text of its facts, and the rest of the text."""

    host: str
    memory_mb: int | None
    rest: str


class _LookAgainError(ValueError):
    """Something that JSON allows and facts do not."""


def read_json(text: str) -> Any | None:
    """The data, with tuples for lists; None for what the YAML reader has to look at."""
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def own_parts(text: str) -> Own | None:
    """The host and the memory that the text names, cut out; None where either stands there twice.

    Two texts with the same rest hold the same facts but for these two: a quote inside a JSON string has a
    backslash before it, so what is cut out can only be a key and its value.
    """
    own: dict[str, str] = {}
    rest, at = "", 0
    for found in _OWN.finditer(text):
        kind = found.lastgroup or ""
        if kind in own:
            return None
        own[kind] = found[kind]
        # No JSON string holds a line end, so this is like no value.
        rest += f"{text[at : found.start(kind)]}\n"
        at = found.end(kind)
    memory = int(own["memory"]) if "memory" in own else None
    return Own(own["host"], memory, rest + text[at:]) if "host" in own else None


def facts_text(facts: BaseModel) -> str:
    """The text of `facts/HOST.json`; what was not read stays out."""
    return json.dumps(facts.model_dump(exclude_none=True), indent=1) + "\n"


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = {key: tuple(value) if isinstance(value, list) else value for key, value in pairs}
    if len(found) != len(pairs):
        raise _LookAgainError("a key stands twice")
    return found


def _refuse(word: str) -> Any:
    raise _LookAgainError(word)
