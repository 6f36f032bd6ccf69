"""Options of the commands that ask many hosts over SSH."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
_OPTIONS = (
    click.option("--user", help="Log in as this user. [default: as ssh does]"),
    click.option(
        "--ssh-config", type=click.Path(path_type=Path), default=Path("~/.ssh/config"), show_default=True
    ),
    click.option(
        "--at-once", type=click.IntRange(1, 1000), default=64, show_default=True, help="Hosts at one time."
    ),
    click.option(
        "--limit",
        "limit_s",
        type=click.FloatRange(1),
        default=180,
        show_default=True,
        help="Seconds for one host.",
    ),
    click.option(
        "--connect-limit",
        "connect_s",
        type=click.FloatRange(0.1),
        default=15,
        show_default=True,
        help="Seconds to get in.",
    ),
)


def ssh_options(command: _Command) -> _Command:
    """Adds `user`, `ssh_config`, `at_once`, `limit_s` and `connect_s` to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command
