"""Turns Slurm's time limits into minutes: `90`, `90:30`, `1:30:00`, `7-0`, `7-00:00:00`, `UNLIMITED`.

Two fields are minutes and seconds, not hours and minutes (time_str2secs in src/common/parse_time.c).
"""

from __future__ import annotations

import re

from slurmwright.model.plain_words import short

FORMS = "minutes, minutes:seconds, hours:minutes:seconds, days-hours, days-hours:minutes:seconds or UNLIMITED"

_PLAIN = re.compile(r"(\d{1,7})(?::(\d{1,2}))?\Z", re.ASCII)
_CLOCK = re.compile(r"(\d{1,5}):(\d{1,2}):(\d{1,2})\Z", re.ASCII)
_DAYS = re.compile(r"(\d{1,4})-(\d{1,2})(?::(\d{1,2})(?::(\d{1,2}))?)?\Z", re.ASCII)


def minutes(text: str) -> int | None:
    """Whole minutes, rounded up as Slurm does; None for no limit. Raises ValueError for anything else.

    >>> minutes("7-00:00:00"), minutes("1:30:00"), minutes("90:30"), minutes("UNLIMITED")
    (10080, 90, 91, None)
    """
    if text.upper() in ("UNLIMITED", "INFINITE", "-1"):
        return None
    if match := _DAYS.match(text):
        days, hours, mins, secs = (int(part or 0) for part in match.groups())
    elif match := _CLOCK.match(text):
        days, (hours, mins, secs) = 0, (int(part) for part in match.groups())
    elif match := _PLAIN.match(text):
        days, hours, (mins, secs) = 0, 0, (int(part or 0) for part in match.groups())
    else:
        raise ValueError(f"'{short(text)}' is not a time; expected {FORMS}")
    return -(-(((days * 24 + hours) * 60 + mins) * 60 + secs) // 60)
