"""Run commands behind one small protocol, so that everything that thinks can be tested without a host.

`Local` runs on this machine; SSH and recorded replay come to the same protocol.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
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


class Follower(Protocol):
    """Something that can run a long command and hand on each line of its output as it comes."""

    def follow(
        self, argv: Sequence[str], on_line: Callable[[str], None], *, env: Mapping[str, str] | None = None
    ) -> int: ...


#: A program that was interrupted with us has this long to end by itself, each time before it is told harder.
_GRACE_S = 3.0


class Local:
    """Commands on this machine."""

    def follow(
        self, argv: Sequence[str], on_line: Callable[[str], None], *, env: Mapping[str, str] | None = None
    ) -> int:
        """The exit status; output and error output come in one stream. An interrupt ends the program too, its
        last lines are still handed on, and then KeyboardInterrupt is raised."""
        try:
            child = subprocess.Popen(
                list(argv),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env=dict(env) if env is not None else None,
            )
        except OSError as error:
            on_line(str(error))
            return 127
        assert child.stdout is not None  # noqa: S101 - it is a pipe
        with child:
            try:
                for line in child.stdout:
                    on_line(line.rstrip("\n"))
                return child.wait()
            except BaseException:
                _end(child)
                for line in child.stdout:
                    on_line(line.rstrip("\n"))
                raise

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


def _end(child: subprocess.Popen[str]) -> None:
    """A terminal interrupts both of us, `kill` only one: so wait first, then pass the signal on."""
    for harder in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            child.wait(_GRACE_S)
            return
        except subprocess.TimeoutExpired:
            child.send_signal(harder)
    child.wait()


def _text(raw: bytes | str | None) -> str:
    return raw.decode(errors="replace") if isinstance(raw, bytes) else raw or ""
