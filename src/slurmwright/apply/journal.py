"""What a plan's execution has begun and finished, kept on disk so that the next run knows.

Written whole and flushed before a step begins and after it has ended. A step that was begun and not finished
is carried out again: each can be.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.files import write_text
from slurmwright.plan import Plan, compare, digest, plan_json
from slurmwright.plan.document import bundles_of

FORMAT = "slurmwright/journal/1"
WAITING, BEGUN, DONE = "waiting", "begun", "done"


@dataclass(frozen=True)
class Journal:
    """One execution. `name` marks the nodes that it drains; `steps` are states by position; `hosts` those
    that a begun step has finished with; `partitions` states before they were drained; `away` the nodes that
    did not answer before anything was done."""

    name: str
    rollback: bool
    steps: tuple[str, ...]
    hosts: tuple[str, ...] = ()
    partitions: Mapping[str, str] = field(default_factory=dict)
    away: tuple[str, ...] = ()

    @property
    def finished(self) -> bool:
        return all(state == DONE for state in self.steps)

    def begin(self, at: int) -> Journal:
        if self.steps[at] == BEGUN:
            return self
        return replace(self, steps=_set(self.steps, at, BEGUN), hosts=())

    def end(self, at: int) -> Journal:
        return replace(self, steps=_set(self.steps, at, DONE), hosts=())

    def host_done(self, *names: str) -> Journal:
        return replace(self, hosts=tuple(sorted({*self.hosts, *names})))

    def began(self, plan: Plan, action: str) -> bool:
        """Was any step of this kind begun?"""
        pairs = zip(plan.steps, self.steps, strict=True)
        return any(step.action == action and state != WAITING for step, state in pairs)


def new_journal(plan: Plan, rollback: bool = False, name: str = "") -> Journal:
    """Nothing begun."""
    return Journal(name or digest(plan.new)[:8], rollback, (WAITING,) * len(plan.steps))


class Book:
    """The journal of one inventory on disk, with the plan that it is about."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "journal.json"

    def read(self) -> tuple[Plan, Journal] | None:
        """None where nothing was ever carried out; raises InputError for a file that is no journal."""
        try:
            raw = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError.of(f"cannot be read: {error}", str(self.path)) from None
        try:
            return self._loaded(raw)
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError.of(f"is no journal of this slurmwright: {error}", str(self.path)) from None

    def _loaded(self, raw: Any) -> tuple[Plan, Journal]:
        if raw["format"] != FORMAT:
            raise InputError.of(f"format is {raw['format']!r}, expected '{FORMAT}'", str(self.path))
        plan = compare(*bundles_of(raw["plan"], str(self.path)))
        steps = tuple(row["state"] for row in raw["steps"])
        if [row["step"] for row in raw["steps"]] != [step.as_json() for step in plan.steps]:
            raise InputError.of(
                "its steps are not what follows from its files: another version of slurmwright began them; "
                "finish with that version",
                str(self.path),
            )
        journal = Journal(
            str(raw["name"]),
            bool(raw["rollback"]),
            steps,
            tuple(raw["hosts"]),
            dict(raw["partitions"]),
            tuple(raw["away"]),
        )
        return plan, journal

    def write(self, plan: Plan, journal: Journal) -> None:
        """The whole book in one piece; a power cut leaves the one before."""
        pairs = zip(plan.steps, journal.steps, strict=True)
        document = {
            "format": FORMAT,
            "name": journal.name,
            "rollback": journal.rollback,
            "steps": [{"state": state, "step": step.as_json()} for step, state in pairs],
            "hosts": list(journal.hosts),
            "partitions": dict(journal.partitions),
            "away": list(journal.away),
            "plan": plan_json(plan),
        }
        try:
            write_text(self.path, json.dumps(document, indent=1) + "\n", 0o600)
            _flush(self.path.parent)
        except OSError as error:
            raise SlurmwrightError(f"{self.path}: cannot be written: {error.strerror}") from error


def _flush(folder: Path) -> None:
    """Without it a power cut may forget the new name."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _set(steps: tuple[str, ...], at: int, state: str) -> tuple[str, ...]:
    return (*steps[:at], state, *steps[at + 1 :])
