"""Turns a host of testinfra into a runner, so that the same functions run over any of its connections."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slurmwright.core.run import Result


@dataclass(frozen=True)
class OnHost:
    """Commands on one host. Connections of testinfra have no standard input, so it travels in the command."""

    host: Any

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        words = ["env", *(f"{key}={value}" for key, value in env.items()), *argv] if env else [*argv]
        line = f"timeout {limit_s:.0f} {shlex.join(words)}"
        if stdin:
            text = base64.b64encode(stdin.encode()).decode()
            line = f"printf %s {text} | base64 -d | {line}"
        done = self.host.run(line)
        return Result(tuple(argv), int(done.rc), str(done.stdout), str(done.stderr))
