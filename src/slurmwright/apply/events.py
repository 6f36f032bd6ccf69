"""One line that ansible-playbook prints under our callback to an event, or None for a line that is none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Event:
    """`kind` is play, task, start, result, diff, no-hosts, stopped or stats; the other values as it needs
    them. `status` of a result is ok, changed, skipped, ignored, failed or unreachable."""

    kind: str
    name: str = ""
    role: str = ""
    host: str = ""
    status: str = ""
    text: str = ""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def task(self) -> str:
        """`role: name of the task`, or the name alone."""
        return f"{self.role}: {self.name}" if self.role else self.name


def parse_event(line: str) -> Event | None:
    """Ansible prints warnings and its own errors between the events; these are for a person."""
    try:
        raw = json.loads(line)
    except ValueError:
        return None
    if not isinstance(raw, dict) or not isinstance(raw.get("event"), str):
        return None
    words = {key: _word(raw, key) for key in ("name", "role", "host", "status")}
    return Event(raw["event"], text=_word(raw, "message") or _word(raw, "text"), counts=_counts(raw), **words)


def _word(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    return value if isinstance(value, str) else ""


def _counts(raw: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    hosts = raw.get("hosts")
    return hosts if isinstance(hosts, dict) else {}
