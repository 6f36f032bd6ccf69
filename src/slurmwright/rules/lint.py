"""What was read, and a release as a person gives it, to findings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES, Release
from slurmwright.rules.reading import Reading
from slurmwright.rules.registry import all_rules
from slurmwright.rules.rule import Rule
from slurmwright.rules.runner import Judged, judge

_OLD = re.compile(r"(\d\d)\.(\d\d)(\.\d{1,2})?\Z", re.ASCII)


def lint(
    reading: Reading, release: str | None = None, rules: Iterable[Rule] | None = None
) -> tuple[Judged, ...]:
    """Judge what was read. `release` beats what the files tell; without either every release is in
    question."""
    judged_as, asked = _release(release) if release else _told(reading.release)
    hosts = tuple(replace(seen, asked=asked) for seen in reading.hosts)
    return judge(hosts, all_rules() if rules is None else rules, judged_as)


def _release(text: str) -> tuple[Release, str]:
    """The release to judge by, and the text of one that is too old to be known."""
    match = _OLD.match(text)
    if match and f"{match[1]}.{match[2]}" < SERIES[0]:
        return Release(SERIES[0]), text
    return Release.parse(text), ""


def _told(text: str) -> tuple[Release | None, str]:
    if not text:
        return None, ""
    try:
        return _release(text)
    except InputError:
        return None, ""
