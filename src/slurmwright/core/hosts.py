"""Host ranges such as `gpu[001-064]` to names and back, folded the way Slurm folds them.

ClusterShell's NodeSet does the work; its group syntax (`@group`) and set operators (`!`, `&`, `^`) are not
part of Slurm's grammar and are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet, NodeSetException

from slurmwright.core.errors import InputError

#: More hosts than this in one range is a typing error (a million nodes take the machine's memory).
MAX_HOSTS = 200_000

_TEXT = re.compile(r"[A-Za-z0-9.\-_\[\],]+\Z")
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.\-]*[A-Za-z0-9])?\Z")
_RANGE = re.compile(r"(\d+)-(\d+)")


def expand(text: str) -> tuple[str, ...]:
    """`gpu[1-3]` → ("gpu1", "gpu2", "gpu3"), in written order; raises InputError for anything else."""
    if not _TEXT.match(text):
        raise InputError.of(
            f"'{text}' is not a host range; expected letters, digits, '-', '.', ',' and [ranges], "
            "for example gpu[001-064]"
        )
    if sum(abs(int(hi) - int(lo)) + 1 for lo, hi in _RANGE.findall(text)) > MAX_HOSTS:
        raise InputError.of(f"'{text}' names more than {MAX_HOSTS} hosts; check the range")
    try:
        names = tuple(
            name for part in _split(text) for name in map(str, NodeSet(part, resolver=RESOLVER_NOGROUP))
        )
    except (NodeSetException, ValueError) as error:
        raise InputError.of(
            f"'{text}' is not a host range ({error}); expected for example gpu[001-064] or gpu1,gpu2"
        ) from error
    for name in names:
        if not _NAME.match(name):
            raise InputError.of(
                f"'{name}' in '{text}' is not a host name; expected letters, digits, '-' and '.', "
                "beginning and ending with a letter or digit"
            )
    return names


def fold(names: Iterable[str]) -> str:
    """("gpu2", "gpu1", "gpu3") → `gpu[1-3]`: sorted, folded, no duplicates."""
    return str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))


def fold_in_order(items: list[str]) -> str:
    """Fold a list whose order matters (addresses beside their host names); falls back to a comma list."""
    folded = fold(items)
    if folded.count("[") <= 1 and list(expand(folded)) == items:
        return folded
    return ",".join(items)


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
