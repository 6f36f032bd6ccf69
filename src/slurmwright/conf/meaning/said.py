"""The smallest piece of meaning: one thing said about one subject, with the line that says it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold

#: (file, subject such as `node gpu1` or "", what is said of it).
Key = tuple[str, str, str]
_TRUE = frozenset(("yes", "up", "true", "1"))
_FALSE = frozenset(("no", "down", "false", "0"))
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_BRACKETS = re.compile(r"\[([\d,-]+)\]")
#: More names than this in one value are no hosts that a cluster has.
_MAX_NAMES = 200_000


@dataclass(frozen=True)
class Said:
    """A normal form that is equal where the meaning is equal, the words as written, and their place."""

    normal: str
    written: str
    file: str
    line: int


Meaning = Mapping[Key, Said]


def truth(text: str) -> str:
    """A yes/no value; anything else stays as it is."""
    low = text.strip().lower()
    return "yes" if low in _TRUE else "no" if low in _FALSE else low


def hosts(text: str) -> tuple[str, ...]:
    """The names of a host range. One that cannot be read is taken for a single name: it is equal to
    nothing but itself."""
    try:
        return expand(text)
    except InputError:
        return (text,)


def host_set(text: str) -> str:
    """A host range folded and sorted."""
    names = hosts(text)
    return text if names == (text,) else folded(names)


def folded(names: Iterable[str]) -> str:
    """Names as a range; a list where one of them is no plain name."""
    found = sorted(set(names))
    return fold(found) if all(map(_PLAIN.match, found)) else ",".join(found)


def files(text: str) -> tuple[str, ...]:
    """`/dev/nvidia[0-1],/dev/x` → every path; what cannot be read stays whole."""
    found: list[str] = []
    for part in re.split(r",(?![^\[]*\])", text):
        match = _BRACKETS.search(part)
        if match is None:
            found.append(part.strip())
            continue
        numbers = span_numbers(match[1])
        if numbers is None or len(numbers) > _MAX_NAMES:
            return (text,)
        found += [part[: match.start()] + number + part[match.end() :] for number in numbers]
    return tuple(found)


def span_numbers(text: str) -> list[str] | None:
    """`0-3,08` → the numbers as texts, zeros kept; None for anything else."""
    found: list[str] = []
    for span in text.split(","):
        match = re.match(r"(\d{1,6})(?:-(\d{1,6}))?\Z", span.strip(), re.ASCII)
        if match is None:
            return None
        low, high = int(match[1]), int(match[2] or match[1])
        if high < low or high - low > 65_535 or len(found) > _MAX_NAMES:
            return None
        found += [str(number).zfill(len(match[1])) for number in range(low, high + 1)]
    return found
