"""A plan's file without passwords and what a host holds to the file that the host gets.

A plan holds no password: what stands in its place is filled in from the host's own former file, in memory
only.
"""

from __future__ import annotations

import re

from slurmwright.core.errors import InputError
from slurmwright.plan.secrets import HIDDEN, HIDDEN_NEW, SECRET

_MASK = re.compile(r"@SLURMWRIGHT_[A-Z_]+@\Z")


def has_password(text: str) -> bool:
    """Must something be filled in?"""
    return any(_MASK.match(_value(match)) for match in SECRET.finditer(text))


def blank(text: str) -> str:
    """The text with one mask for every password, so that two can be compared."""
    return SECRET.sub(lambda match: _with(match, HIDDEN), text)


def filled(text: str, held: str, path: str) -> str:
    """The text with the passwords of `held`; raises InputError where it holds none for a place."""
    have: dict[str, list[str]] = {}
    for match in SECRET.finditer(held):
        have.setdefault(_place(match), []).append(_value(match))
    seen: dict[str, int] = {}

    def fill(match: re.Match[str]) -> str:
        value, place = _value(match), _place(match)
        if not _MASK.match(value):
            return match[0]
        if value == HIDDEN_NEW:
            raise InputError.of(
                f"a password of {path} ({place}) changes, and a plan holds none; "
                "push that file with `slurmwright apply` without a plan"
            )
        at = seen[place] = seen.get(place, -1) + 1
        known = have.get(place, [])
        if not known or _MASK.match(known[min(at, len(known) - 1)]):
            raise InputError.of(
                f"{path} on the host holds no password for {place}, and a plan holds none; "
                "push that file with `slurmwright apply` without a plan"
            )
        return _with(match, known[min(at, len(known) - 1)])

    return SECRET.sub(fill, text)


def _value(match: re.Match[str]) -> str:
    return (match["value"] or match["word"] or "").strip('"')


def _place(match: re.Match[str]) -> str:
    return (match["key"] or "url").lower()


def _with(match: re.Match[str], value: str) -> str:
    if match["url"]:
        return match["url"] + value
    quoted = match["value"].startswith('"') and not _MASK.match(value)
    return match["key"] + match["is"] + (f'"{value}"' if quoted else value)
