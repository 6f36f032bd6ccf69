"""IN001: a file that cannot be read is told, so that silence never means that it was judged."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import ERROR, Fault, Place, rule


@rule(
    "IN001",
    "unreadable-files",
    ERROR,
    why="A file that is not read is not judged; a fault in it stays where it is.",
    fix="Make the file readable for whoever runs lint, or take it out of the folder.",
    references=("how-to/write-a-rule.md: what lint reads",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for path, why in seen.unread:
        yield Fault(f"{path} {why}", Place(path))
