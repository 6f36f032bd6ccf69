"""Lines of logs and of job outputs that tell of a fault: what to look for, and where it is believed.

Rows are matched as bytes, as a log may hold anything: plain texts first, since finding those is many times
faster than a pattern, then a pattern on what stands behind the line's time and level.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from pydantic import Field

from slurmwright.catalogue.read import DATA, Row, load, row

Source = Literal["daemon", "kernel", "job", "reason"]
#: What stands before a message: times, job and step, host and program of syslog, level, function.
_HEAD = re.compile(
    rb"(?:\s+|\[[^\]\n]{0,40}\]:?|\w{3} +\d{1,2} \d\d:\d\d:\d\d(?: [\w.-]+(?= \S+:))?"
    rb"|\d{4}-\d\d-\d\dT[\d:.,+Z-]{5,30}(?: [\w.-]+(?= \S+:))?"
    rb"|[\w./@<>+-]{1,200}(?:\[\d{1,9}\])?:(?=\s)){0,12}"
)


class LogSign(Row):
    """One kind of line; `data/log_signs.yaml` says what the fields mean. `over` tells that a daemon has
    started, and that what hindered it before is past."""

    name: str
    sources: tuple[Source, ...] = Field(alias="in", min_length=1)
    any: tuple[str, ...] = Field(min_length=1)
    match: str
    level: Literal["", "fatal"] = ""
    startup: bool = False
    over: bool = False

    def fit(self, line: bytes) -> dict[str, str] | None:
        """The named parts of the line if it is of this kind. What a person may have chosen, such as the name
        of a job, stands within a message and never begins one."""
        head = _HEAD.match(line)
        end = head.end() if head else 0
        if self.level and f"{self.level}:".encode() not in line[:end]:
            return None
        pattern = _pattern(self.match)
        found = pattern.match(line, end) or (None if self.level else pattern.match(line.lstrip()))
        if found is None:
            return None
        return {name: (raw or b"").decode(errors="replace") for name, raw in found.groupdict().items()}


@cache
def _pattern(match: str) -> re.Pattern[bytes]:
    return re.compile(match.encode())


@cache
def log_signs() -> tuple[LogSign, ...]:
    """All rows, in the order in which they are tried on a line."""
    path = DATA / "log_signs.yaml"
    return tuple(row(LogSign, raw, path, name, name=name) for name, raw in load(path)["rows"].items())
