"""Turns pydantic's validation errors into sentences for an admin: what stands there and what was expected."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from slurmwright.core.errors import did_you_mean, nearest
from slurmwright.model.yaml_source import Where

#: pydantic's error types in words of YAML; {x} are the values of the error's context.
_EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a mapping of keys to values",
    "model_type": "a mapping of keys to values",
    "model_attributes_type": "a mapping of keys to values",
    "literal_error": "{expected}",
    "greater_than_equal": "{ge} or more",
    "less_than_equal": "{le} or less",
    "too_short": "at least {min_length}",
}


@dataclass(frozen=True)
class Fault:
    """One fault inside a part: where (below the part), in words, and whether the key is meant."""

    where: Where
    message: str
    key: bool = False


def explain(
    error: ValidationError, model: type[BaseModel], title: str, raw: Callable[[Where], str | None]
) -> Iterator[Fault]:
    """One fault for each of pydantic's errors; `raw` gives a value as it was written, where it has a text.
    `title` names the part itself."""
    entries = error.errors(include_url=False, include_context=True)
    meant = {
        (*entry["loc"][:-1], nearest(str(entry["loc"][-1]), known_keys(model, entry["loc"][:-1])))
        for entry in entries
        if entry["type"] == "extra_forbidden"
    }
    for entry in entries:
        where = tuple(entry["loc"])
        name = next((step for step in reversed(where) if isinstance(step, str)), title)
        if entry["type"] == "extra_forbidden":
            yield Fault(where, unknown_key(name, known_keys(model, where[:-1])), key=True)
        elif where in meant or (entry["type"] == "too_short" and _fault_below(where, entries)):
            continue
        elif entry["type"] == "missing":
            yield Fault(where[:-1], f"{name} is missing; expected {_description(model, where)}", key=True)
        else:
            written = raw(where)
            shown = kind(entry["input"]) if written is None else f"'{short(written)}'"
            expected = _EXPECTED.get(entry["type"], "another value").format(**entry.get("ctx", {}))
            described = _description(model, where)
            hint = f": {described}" if described else ""
            if entry["type"] == "string_type" and written:
                expected, hint = f'text; put it in quotes: "{short(written)}"', ""
            yield Fault(where, f"{name} is {shown}; expected {expected}{hint}{_near(entry, written)}")


def _fault_below(where: Where, entries: Iterable[Any]) -> bool:
    """pydantic counts only the good entries of a list, so a bad one makes the list short as well."""
    return any(len(entry["loc"]) > len(where) and entry["loc"][: len(where)] == where for entry in entries)


def unknown_key(key: str, known: Iterable[str]) -> str:
    """The message for a key that nobody knows."""
    return f"unknown key '{short(key)}'; {did_you_mean(key, known)}"


def known_keys(model: type[BaseModel], where: Where) -> list[str]:
    """The keys that may stand at `where` inside `model`."""
    return list(_inside(model, where).model_fields)


def kind(value: object) -> str:
    """What a value is, in YAML's words."""
    if value is None:
        return "empty"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"'{short(str(value))}'"


def short(text: str) -> str:
    """A text for a message: one line, never long, ASCII."""
    shown = text.encode("unicode_escape").decode("ascii")
    return shown if len(shown) <= 60 else shown[:57] + "..."


def _near(entry: Any, written: str | None) -> str:
    if entry["type"] != "literal_error" or written is None:
        return ""
    choices = [word.strip("'") for word in entry["ctx"]["expected"].replace(" or ", ", ").split(", ")]
    near = nearest(written, choices)
    return f"; did you mean '{near}'?" if near else ""


def _description(model: type[BaseModel], where: Where) -> str:
    names = [step for step in where if isinstance(step, str)]
    if not names:
        return ""
    field = _inside(model, where[: _last_name(where)]).model_fields.get(names[-1])
    return (field.description or "") if field else ""


def _last_name(where: Where) -> int:
    return max(at for at, step in enumerate(where) if isinstance(step, str))


def _inside(model: type[BaseModel], where: Where) -> type[BaseModel]:
    """The model that holds what is at `where`: names step into fields, indexes and dict keys stay."""
    for step in where:
        field = model.model_fields.get(step) if isinstance(step, str) else None
        model = (_model_of(field) if field else None) or model
    return model


def _model_of(field: FieldInfo) -> type[BaseModel] | None:
    pending: list[Any] = [field.annotation]
    while pending:
        kind_ = pending.pop()
        if isinstance(kind_, type) and issubclass(kind_, BaseModel):
            return kind_
        pending.extend(get_args(kind_))
    return None
