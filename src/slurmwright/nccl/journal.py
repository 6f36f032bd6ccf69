"""Every run of a search to a line on disk, so that a search that was killed goes on where it was.

The search asks for the same runs in the same order when it gets the same scores, so the lines are replayed:
what stands there is not measured again. A line that a crash cut short is dropped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slurmwright.core.errors import InputError


class Journal:
    """`about` says what the runs belong to: another node set or NCCL makes them worthless."""

    def __init__(self, path: Path, about: Mapping[str, Any], fresh: bool = False) -> None:
        self.path = path
        self.jobs: list[str] = []
        self._runs: list[dict[str, Any]] = []
        lines = [] if fresh else lines_of(path)
        if lines:
            told = {key: lines[0].get(key) for key in about}
            if told != dict(about):
                other = ", ".join(
                    f"{key} {told[key]}, now {about[key]}" for key in about if told[key] != about[key]
                )
                raise InputError.of(f"holds runs of another search ({other}); --new begins afresh", str(path))
            self._runs = [line for line in lines[1:] if "setting" in line]
            self.jobs = [str(line["job"]) for line in lines[1:] if "job" in line]
        self._begin([{**about}, *({"job": job} for job in self.jobs), *self._runs])
        self._at = 0

    @property
    def replayed(self) -> int:
        """How many runs stood there at the start."""
        return len(self._runs)

    @property
    def nccl(self) -> str:
        """NCCL's version in the runs that stand there."""
        return next((str(line["nccl"]) for line in self._runs if line.get("nccl")), "")

    def take(self, setting: Mapping[str, str]) -> tuple[bool, float | None]:
        """The score of the next run, where it stands there."""
        if self._at >= len(self._runs):
            return False, None
        line = self._runs[self._at]
        if line["setting"] != dict(setting):
            del self._runs[self._at :]
            return False, None
        self._at += 1
        return True, line["score"]

    def add(self, setting: Mapping[str, str], score: float | None, **more: object) -> None:
        """One run that was measured now."""
        self._at += 1
        line = {"setting": dict(setting), "score": score, **more}
        self._runs.append(line)
        self._write(line)

    def held(self, job: str) -> None:
        """The allocation in which runs go on: a killed search leaves it behind."""
        self._write({"job": job})

    @property
    def runs(self) -> int:
        """Runs so far."""
        return self._at

    def _begin(self, lines: list[dict[str, Any]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        new.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        os.replace(new, self.path)

    def _write(self, line: Mapping[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")
            out.flush()
            os.fsync(out.fileno())


def lines_of(path: Path) -> list[dict[str, Any]]:
    """What stands in a journal, up to the first line that was cut short; nothing without one."""
    if not path.exists():
        return []
    found = []
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            break
        if not isinstance(line, dict):
            break
        found.append(line)
    return found
