"""Turns facts that a program wrote as JSON into data, quickly, and facts into such text.

JSON is read many times as fast as YAML with its places. What is wrong in a file is found again by the YAML
reader, which takes the same text (JSON is YAML) and knows every line and column: so this reader only says
"data" or "look again".
"""

from __future__ import annotations

import json
import re
from typing import Any

from pydantic import BaseModel

_HOST = re.compile(r'"host": "([A-Za-z0-9][A-Za-z0-9_.-]*)"')


class _LookAgainError(ValueError):
    """Something that JSON allows and facts do not."""


def read_json(text: str) -> Any | None:
    """The data, with tuples for lists; None for what the YAML reader has to look at."""
    try:
        return json.loads(text, object_pairs_hook=_mapping, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def without_host(text: str) -> tuple[str, str] | None:
    """The host that the text names and the text without that name; None unless there is exactly one.

    Two texts that are the same without it hold the same facts: a quote inside a JSON string has a backslash
    before it, so what is cut out can only be the key and its value.
    """
    found = list(_HOST.finditer(text))
    if len(found) != 1:
        return None
    return found[0][1], text[: found[0].start(1)] + "\n" + text[found[0].end(1) :]


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
