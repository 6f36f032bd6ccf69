"""Run commands behind one small protocol, so that everything that thinks can be tested without a host.

`Local` runs on this machine; SSH and recorded replay come to the same protocol.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Result:
    """What one command left behind; `code` is the exit status, 124 when it ran past its limit."""

    argv: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def last_line(self) -> str:
        """The last line that says something, error output first: what to show a person."""
        lines = [line for line in (self.out + "\n" + self.err).splitlines() if line.strip()]
        return lines[-1].strip() if lines else f"exit code {self.code}"


class Runner(Protocol):
    """Something that can run a command and give its result; never raises for a failing command."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result: ...


class Local:
    """Commands on this machine."""

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        try:
            done = subprocess.run(
                list(argv),
                input=stdin,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit_s,
                env=dict(env) if env is not None else None,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            return Result(tuple(argv), 124, _text(error.stdout), f"no answer within {limit_s:g} s")
        except OSError as error:
            return Result(tuple(argv), 127, "", str(error))
        return Result(tuple(argv), done.returncode, done.stdout, done.stderr)


def _text(raw: bytes | str | None) -> str:
    return raw.decode(errors="replace") if isinstance(raw, bytes) else raw or ""
