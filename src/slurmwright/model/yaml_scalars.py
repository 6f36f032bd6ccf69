"""Turns one unquoted YAML scalar into a value, and tells where YAML 1.1 and YAML 1.2 would not agree on it.

Ansible, editors and this package may read the same file with different YAML versions: `0000:47:00.0` is
2820.0 to YAML 1.1 and text to YAML 1.2, `on` is true to one and text to the other. What both read alike is
taken; everything else has to be put in quotes.
"""

from __future__ import annotations

import re

import yaml

_KINDS_12 = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z")),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")),
    ("int", re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")),
    ("float", re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")),
    ("float", re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")),
)
_PLAIN_WORD = re.compile(r"[A-Za-z_/][A-Za-z0-9_./\[\]-]*\Z")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")
_WORDS_11 = frozenset(("yes", "no", "on", "off", "y", "n"))
_KINDS_11 = yaml.SafeLoader.yaml_implicit_resolvers
#: Infinity and not-a-number stay text: nothing of a cluster is either.
_NO_NUMBER = re.compile(r"inf|nan", re.IGNORECASE)
#: More digits than any number of a cluster has; Python would refuse thousands of them with an error.
_MAX_DIGITS = 18

Scalar = str | int | float | bool | None


def read_plain(text: str) -> tuple[Scalar, str | None]:
    """The value of an unquoted scalar, and why it must be quoted where the YAML versions disagree."""
    if _PLAIN_WORD.match(text) and text.lower() not in _WORDS_11 and text[0] not in "tTfFnN":
        return text, None
    old, new = _kind_11(text), _kind_12(text)
    if old != new or (new == "int" and _LEADING_ZERO.match(text)):
        return text, _why(text, old, new)
    if new == "null":
        return None, None
    if new == "bool":
        return text.lower() == "true", None
    if new == "text" or len(text) > _MAX_DIGITS or _NO_NUMBER.search(text):
        return text, None
    if new == "float":
        return float(text), None
    return int(text, 0), None


def _kind_11(text: str) -> str:
    if text.lower() in _WORDS_11:
        return "bool"
    for tag, pattern in _KINDS_11.get(text[:1], []):
        if pattern.match(text):
            return str(tag).rpartition(":")[2]
    return "text"


def _kind_12(text: str) -> str:
    return next((kind for kind, pattern in _KINDS_12 if pattern.match(text)), "text")


def _why(text: str, old: str, new: str) -> str:
    if old == "bool":
        meant = "true" if text.lower() in ("yes", "on", "y") else "false"
        return (
            f'unquoted {text} is {meant} to some YAML readers and text to others; write "{text}" or {meant}'
        )
    names = {"int": "a number", "float": "a number", "timestamp": "a date", "text": "text"}
    one, other = names.get(old, "a special word"), names.get(new, "text")
    if one == other:
        one, other = "one number", "another number"
    return f'unquoted {text} is {one} to some YAML readers and {other} to others; put it in quotes: "{text}"'
