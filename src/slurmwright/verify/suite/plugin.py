"""Options that say where the jobs of the suite run: `pytest -p slurmwright.verify.suite.plugin`."""

from __future__ import annotations

import pytest

OPTIONS = ("nodes", "partition", "account", "qos", "reservation", "timeout")


def pytest_addoption(parser: pytest.Parser) -> None:
    """The same words that `slurmwright verify` takes."""
    group = parser.getgroup("slurmwright")
    for name in OPTIONS:
        group.addoption(f"--slurm-{name}", dest=f"slurm_{name}", default="", help=f"as in verify --{name}")
