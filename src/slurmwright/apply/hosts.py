"""The one way in which apply touches a machine: run a command there as root, put a file there.

What carries out a plan, reads live files or edits nodes takes a `Hosts`; over SSH it reaches a cluster, in a
rehearsal its stand-ins, so that the same code runs in both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, TypeVar

from slurmwright.core.run import Result

#: Exit status of `Result` where a host was not reached: what it did is unknown. As ssh itself ends.
UNREACHED = 255
#: So many hosts are asked at a time.
ABREAST = 32
T = TypeVar("T")


class Hosts(Protocol):
    """Hosts by their names in the bundle; both may be called from several threads at a time. Neither raises
    for a host that fails: `Result.code` is `UNREACHED` where a host was not reached, 124 past the limit."""

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        """Run a command on the host as root; `argv` goes through no shell."""

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        """Write a whole file, on its disk before this returns; a reader sees the former one or this one."""


def on_each(hosts: Collection[str], task: Callable[[str], T]) -> Mapping[str, T]:
    """`task` for every host, some at a time; in the order of `hosts`."""
    names = tuple(hosts)
    if not names:
        return {}
    with ThreadPoolExecutor(min(ABREAST, len(names))) as pool:
        return dict(zip(names, pool.map(task, names), strict=True))
