"""What holds for every role: each default is described, modules have full names, tasks have sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ROLES = sorted(path for path in (ROOT / "roles").iterdir() if path.is_dir())
#: Words of a task that are no module.
KEYWORDS = {
    *(
        "name",
        "when",
        "loop",
        "loop_control",
        "register",
        "vars",
        "notify",
        "listen",
        "become",
        "delegate_to",
    ),
    *("run_once", "no_log", "diff", "check_mode", "changed_when", "failed_when", "until", "retries", "delay"),
    *(
        "block",
        "rescue",
        "always",
        "environment",
        "any_errors_fatal",
        "throttle",
        "args",
        "become_user",
        "timeout",
    ),
}
_SHELLS = ("ansible.builtin.shell", "ansible.builtin.raw", "ansible.builtin.script")
#: What makes a running daemon read its files; it belongs to handlers.
_ACTS = ("restarted", "reloaded")


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else None


def tasks_of(role: Path, *folders: str) -> Iterator[dict[str, Any]]:
    for folder in folders:
        for path in sorted((role / folder).glob("*.yml")):
            yield from _flat(load(path) or [])


def _flat(tasks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for task in tasks:
        yield task
        for word in ("block", "rescue", "always"):
            yield from _flat(task.get(word, []))


def module_of(task: dict[str, Any]) -> str:
    found = [key for key in task if key not in KEYWORDS]
    assert len(found) <= 1, f"{task.get('name')}: {found}"
    return found[0] if found else "block"


@pytest.fixture(params=ROLES, ids=lambda role: role.name)
def role(request: pytest.FixtureRequest) -> Path:
    path = request.param
    assert isinstance(path, Path)
    return path


def test_every_default_is_described_with_the_value_that_it_has(role: Path) -> None:
    options = load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    described = {name: option["default"] for name, option in options.items() if "default" in option}
    assert described == (load(role / "defaults" / "main.yml") or {})


def test_what_has_no_default_comes_from_the_inventory(role: Path) -> None:
    options = load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    for name, option in options.items():
        if "default" not in option:
            assert option.get("required") is True, name
            assert name.startswith("slurm_"), name


def test_modules_have_their_full_names_or_are_the_projects_own(role: Path) -> None:
    own = {path.stem for path in ROOT.glob("roles/*/library/*.py")}
    for task in tasks_of(role, "tasks", "handlers"):
        module = module_of(task)
        assert module in ("block", *own) or module.count(".") >= 2, task["name"]


def test_every_task_has_a_sentence_for_a_name(role: Path) -> None:
    for task in tasks_of(role, "tasks", "handlers"):
        assert re.match(r"[A-Z][^{}]* [^{}]*[^.\s{}]\Z", task.get("name", "")), task


def test_a_daemon_is_restarted_or_reloaded_in_handlers_alone(role: Path) -> None:
    for task in tasks_of(role, "tasks"):
        arguments = task.get(module_of(task))
        state = arguments.get("state") if isinstance(arguments, dict) else None
        assert state not in _ACTS, task["name"]


def test_a_shell_is_never_asked(role: Path) -> None:
    for task in tasks_of(role, "tasks", "handlers"):
        assert module_of(task) not in (
            "ansible.builtin.shell",
            "ansible.builtin.raw",
            "ansible.builtin.script",
        )


def test_handlers_stand_in_the_order_of_the_daemons() -> None:
    order = ("slurmdbd", "slurmctld", "slurmd", "sackd")
    named = [
        daemon
        for task in tasks_of(ROOT / "roles" / "slurm_files", "handlers")
        for daemon in order
        if isinstance(task.get("ansible.builtin.systemd_service"), dict)
        and task["ansible.builtin.systemd_service"].get("name") == daemon
    ]
    assert list(dict.fromkeys(named)) == list(order)


def test_a_command_that_names_a_secret_gets_it_on_its_input_and_out_of_the_log() -> None:
    seen = 0
    for role in ROLES:
        for task in tasks_of(role, "tasks"):
            if "_password }}" not in str(task.get(module_of(task))):
                continue
            seen += 1
            arguments = task[module_of(task)]
            assert task.get("no_log") is True, task["name"]
            assert "_password }}" not in str(arguments.get("argv", "")), task["name"]
    assert seen >= 2
