"""Host ranges such as `gpu[001-064]` to names and back, folded the way Slurm folds them.

A range keeps its written order, as in Slurm: `10.0.0.[9,3]` beside `gpu[1-2]` gives gpu1 the .9.
ClusterShell's NodeSet folds; its group syntax (`@group`) and set operators (`!`, `&`, `^`) are not part of
Slurm's grammar and are refused.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from functools import lru_cache

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet

from slurmwright.core.errors import InputError

#: More hosts than this in one range is a typing error (a million nodes take the machine's memory).
MAX_HOSTS = 200_000

_TEXT = re.compile(r"[A-Za-z0-9.\-_\[\],]+\Z")
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*\Z")
_SPAN = re.compile(r"(\d{1,12})(?:-(\d{1,12}))?\Z")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")


def expand(text: str) -> tuple[str, ...]:
    """`gpu[1-3]` → ("gpu1", "gpu2", "gpu3"), in written order; raises InputError for anything else."""
    shown = text.encode("unicode_escape").decode("ascii")
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    if not _TEXT.match(text):
        raise InputError.of(
            f"'{shown}' is not a host range; expected letters, digits, '-', '.', ',' and [ranges], "
            "for example gpu[001-064]"
        )
    try:
        axes = [_axes(part) for part in _split(text)]
    except ValueError as error:
        raise InputError.of(
            f"'{shown}' is not a host range ({error}); expected for example gpu[001-064] or gpu1,gpu2"
        ) from error
    if sum(math.prod(len(spans) for spans in part) for part in axes) > MAX_HOSTS:
        raise InputError.of(f"'{shown}' names more than {MAX_HOSTS} hosts; check the range")
    names = tuple("".join(pieces) for part in axes for pieces in itertools.product(*part))
    for name in names:
        if not _NAME.match(name):
            raise InputError.of(
                f"'{name}' in '{shown}' is not a host name; expected letters, digits, '-' and '.', "
                "beginning and ending with a letter or digit"
            )
    return names


def _axes(part: str) -> list[list[str]]:
    """`gpu[1-2]x` → [["gpu"], ["1", "2"], ["x"]]; raises ValueError with the reason in a few words."""
    pieces = _BRACKETS.split(part)
    if any("[" in literal or "]" in literal for literal in pieces[::2]):
        raise ValueError("a bracket is not closed")
    if not part:
        raise ValueError("nothing between two commas")
    return [_numbers(piece) if at % 2 else [piece] for at, piece in enumerate(pieces)]


def _numbers(text: str) -> list[str]:
    """`08-10,3` → ["08", "09", "10", "3"]; the first number of a span sets the width."""
    found: list[str] = []
    for span in text.split(","):
        match = _SPAN.match(span)
        if not match:
            raise ValueError(f"'{span[:20]}' is neither a number nor a span such as 1-8")
        low, high = match[1], match[2] or match[1]
        if len(high) < len(low) or (len(high) > len(low) and high[0] == "0"):
            raise ValueError(f"the ends of '{span}' are padded differently")
        if int(high) < int(low):
            raise ValueError(f"'{span}' falls")
        if int(high) - int(low) >= MAX_HOSTS - len(found):
            raise ValueError(f"'{span}' spans more than {MAX_HOSTS}")
        found += [f"{number:0{len(low)}d}" for number in range(int(low), int(high) + 1)]
    return found


def fold(names: Iterable[str]) -> str:
    """("gpu2", "gpu1", "gpu3") → `gpu[1-3]`: sorted, folded, no duplicates."""
    return _folded(tuple(names))


@lru_cache(maxsize=64)
def _folded(names: tuple[str, ...]) -> str:
    """Kept for the next file: the same ten thousand hosts stand in many, and folding them takes 0.1 s."""
    return str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))


def fold_in_order(items: list[str]) -> str:
    """Fold a list whose order matters (addresses beside their host names); falls back to a comma list."""
    if not all(item[-1:].isdigit() for item in items):
        folded = fold(items)
        if folded.count("[") <= 1 and list(expand(folded)) == items:
            return folded
    return ",".join(
        _run(prefix, [number for _, number in members])
        for prefix, members in itertools.groupby(map(_last_number, items), key=lambda pair: pair[0])
    )


def _last_number(name: str) -> tuple[str, str]:
    """`10.0.0.7` → ("10.0.0.", "7"); a name that ends in no number stays whole."""
    prefix = name.rstrip("0123456789")
    return prefix, name[len(prefix) :]


def _run(prefix: str, numbers: list[str]) -> str:
    """("n", ["1", "2", "5"]) → `n[1-2,5]`: numbers in their order, each span with its own padding."""
    if len(numbers) == 1 or not all(0 < len(number) <= 12 for number in numbers):
        return ",".join(prefix + number for number in numbers)
    spans: list[list[str]] = []
    for number in numbers:
        if spans and _follows(spans[-1][-1], number):
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return f"{prefix}[{','.join('-'.join(span) for span in spans)}]"


def _follows(last: str, number: str) -> bool:
    """Is this the next number of a span? `9` and `10` are, `09` and `10` too, but not `9` and `010`."""
    padded = "0" in (last[0], number[0])
    return int(number) == int(last) + 1 and (len(number) == len(last) or not padded)


def _split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts
