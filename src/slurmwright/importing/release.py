"""The keys of a source to the newest release that knows them all."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.options import lookup
from slurmwright.core.release import SERIES, Release
from slurmwright.importing.source import Source

_RECORDS = {"nodename": "NodeName", "partitionname": "PartitionName"}


def likely_release(source: Source) -> Release:
    """Files do not tell their release; an older one may be meant, so whoever calls this says so."""
    used = set(_keys(source))
    for series in reversed(SERIES):
        release = Release(series)
        options = [lookup(*place) for place in used]
        if all(option is None or option.known_in(release) for option in options):
            return release
    return Release(SERIES[-1])


def _keys(source: Source) -> Iterator[tuple[str, str, str]]:
    for name, tree in source.trees.items():
        for line in tree.lines:
            first = line.statement.key.lower()
            section = _RECORDS.get(first, "global") if name == "slurm.conf" else "global"
            for pair in line.statement.pairs:
                where = "line" if name == "gres.conf" else section
                yield name, where, pair.key
