"""Events of a run to what a person watches on stderr: one line for each task that changed or failed.

On a terminal the task that runs now stands below them, with the hosts that it still waits for.
"""

from __future__ import annotations

import time
from types import TracebackType

from rich.console import Console
from rich.live import Live
from rich.text import Text

from slurmwright.apply.events import Event
from slurmwright.core.hosts import fold

_SHOWN = {"changed": "yellow", "failed": "bold red", "unreachable": "bold red"}
_WIDEST = 60
#: Lines of one reason; the table at the end has them all.
_MOST = 12


class ApplyProgress:
    """Give it to `apply` as `watch` and `note`, inside a `with`."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(Text(), console=console, transient=True, auto_refresh=False)
        self._started = time.monotonic()
        self._play = ""
        self._task = ""
        self._waiting: dict[str, None] = {}
        self._ended: dict[tuple[str, str], list[str]] = {}

    def __enter__(self) -> ApplyProgress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._flush()
        if self._console.is_terminal:
            self._live.stop()

    def watch(self, event: Event) -> None:
        if event.kind in ("task", "play", "stats", "stopped"):
            self._flush()
        if event.kind == "play":
            self._play = event.name
        elif event.kind == "task":
            self._task = event.task
        elif event.kind == "start":
            self._begin()
            self._waiting[event.host] = None
        elif event.kind == "result":
            self._waiting.pop(event.host, None)
            self._ended.setdefault((event.status, event.text), []).append(event.host)
        if self._console.is_terminal:
            self._live.update(self._now(), refresh=True)

    def note(self, line: str) -> None:
        """A line that Ansible prints itself: a warning, or why it cannot go on."""
        self._say(Text(line, style="dim"))

    def _begin(self) -> None:
        """A play is named when it has a host; many have none."""
        if self._play:
            self._say(Text(f"{self._clock()}  {self._play}", style="bold"))
            self._play = ""

    def _flush(self) -> None:
        for (status, reason), hosts in self._ended.items():
            if status not in _SHOWN:
                continue
            self._say(Text.assemble("  ", (f"{status:<11}", _SHOWN[status]), f" {fold(hosts)}  {self._task}"))
            for line in reason.splitlines()[-_MOST:]:
                self._say(Text(f"    {line}"))
        self._waiting, self._ended = {}, {}

    def _say(self, line: Text) -> None:
        self._console.print(line, soft_wrap=True, highlight=False)

    def _now(self) -> Text:
        finished = sum(len(hosts) for hosts in self._ended.values())
        hosts = fold(self._waiting) if self._waiting else ""
        hosts = hosts if len(hosts) <= _WIDEST else hosts[: _WIDEST - 3] + "..."
        counted = f"{finished} of {finished + len(self._waiting)}" if finished or self._waiting else ""
        return Text(f"{self._clock()}  {self._task}  {counted}  {hosts}", no_wrap=True, overflow="ellipsis")

    def _clock(self) -> str:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        return f"{minutes}:{seconds:02d}"
