"""Ansible callback: what a playbook run does, to one line of JSON for each event on stdout.

`slurmwright apply` reads it. Only what names a result is passed on: never a module's arguments, and a task
with no_log is silent by Ansible's own hand.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: slurmwright_events
type: stdout
short_description: One line of JSON for each event
description: Gives C(slurmwright apply) the events of a run. People are better served by the default callback.
"""

#: The end of a long message is what says why.
_LONGEST = 2000
#: What ansible-core 2.19 puts before the reason.
_PREFIX = re.compile(r"(?:(?:Task|Action|Module) failed: )+")


class CallbackModule(CallbackBase):  # type: ignore[misc]
    """Ansible looks for a class of this name."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "slurmwright_events"

    def v2_playbook_on_play_start(self, play: Any) -> None:
        _write("play", name=play.get_name())

    def v2_playbook_on_task_start(self, task: Any, is_conditional: bool) -> None:
        _write("task", name=task.name or task.action, role=_role(task), handler=False)

    def v2_playbook_on_handler_task_start(self, task: Any) -> None:
        _write("task", name=task.name or task.action, role=_role(task), handler=True)

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        _write("start", host=host.get_name())

    def v2_runner_on_ok(self, result: Any) -> None:
        self._result(result, "changed" if _data(result).get("changed") else "ok")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        self._result(result, "ignored" if ignore_errors else "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._result(result, "unreachable")

    def v2_runner_on_skipped(self, result: Any) -> None:
        self._result(result, "skipped")

    def v2_on_file_diff(self, result: Any) -> None:
        """Also comes for each item of a loop."""
        data = _data(result)
        rows = [data, *data.get("results", [])]
        found = [row["diff"] for row in rows if row.get("diff") and row.get("changed")]
        text = "".join(self._get_diff(diff) for diff in found)
        if text:
            _write("diff", host=_host(result), text=text)

    def v2_playbook_on_no_hosts_matched(self) -> None:
        _write("no-hosts")

    def v2_playbook_on_no_hosts_remaining(self) -> None:
        _write("stopped")

    def v2_playbook_on_stats(self, stats: Any) -> None:
        _write("stats", hosts={host: stats.summarize(host) for host in sorted(stats.processed)})

    def _result(self, result: Any, status: str) -> None:
        message = _message(_data(result)) if status in ("failed", "ignored", "unreachable") else ""
        _write("result", host=_host(result), status=status, message=message)


def _write(event: str, **values: Any) -> None:
    sys.stdout.write(json.dumps({"event": event, **values}) + "\n")
    sys.stdout.flush()


def _data(result: Any) -> dict[str, Any]:
    """ansible-core before 2.19 has the underscored names only."""
    return dict(result.result if hasattr(result, "result") else result._result)


def _host(result: Any) -> str:
    host = result.host if hasattr(result, "host") else result._host
    return str(host.get_name())


def _role(task: Any) -> str:
    return task._role.get_name() if task._role else ""


def _message(data: dict[str, Any]) -> str:
    """Why it failed, in few lines: of a loop the items that failed."""
    failed = [row for row in data.get("results", []) if isinstance(row, dict) and row.get("failed")]
    if failed:
        return "; ".join(dict.fromkeys(_message(row) for row in failed))[-_LONGEST:]
    parts = [_PREFIX.sub("", str(data.get("msg") or data.get("reason") or ""))]
    for key in ("stderr", "module_stderr", "stdout"):
        text = str(data.get(key) or "").strip()
        if text and "rc" in data:
            parts.append(text)
            break
    return "\n".join(part for part in parts if part)[-_LONGEST:] or "no reason given"
