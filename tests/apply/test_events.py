"""Lines of ansible-playbook to events."""

from __future__ import annotations

import pytest

from slurmwright.apply.events import Event, parse_event


def test_a_result_has_host_status_and_message() -> None:
    line = '{"event": "result", "host": "gpu1", "status": "failed", "message": "no space left"}'
    assert parse_event(line) == Event("result", host="gpu1", status="failed", text="no space left")


def test_a_task_is_named_with_its_role() -> None:
    event = parse_event(
        '{"event": "task", "name": "Place the files", "role": "slurm_files", "handler": false}'
    )
    assert event is not None
    assert event.task == "slurm_files: Place the files"


@pytest.mark.parametrize(
    "line", ["[WARNING]: something", "", "{", "[1]", '{"no": "event"}', '{"event": 3}', "null"]
)
def test_what_is_no_event_is_left_to_a_person(line: str) -> None:
    assert parse_event(line) is None
