"""MariaDB of a rehearsal: a slow one is waited for, a dead one is quoted at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.run import Result
from slurmwright.rehearse import database
from slurmwright.rehearse.cast import cast_of

_LOG = "[Note] starting\n[ERROR] no space left\n[ERROR] no space left\n[ERROR] Aborting\n"


class _Machine:
    """Answers the question whether the server listens with these exit codes, one after the other."""

    def __init__(self, *codes: int) -> None:
        texts = {
            "slurm.conf": "SlurmctldHost=ctl1\nAccountingStorageType=accounting_storage/slurmdbd\n",
            "slurmdbd.conf": "DbdHost=db1\nStorageUser=slurm\n",
        }
        files = tuple(
            BundleFile(f"/etc/slurm/{name}", name, "ctl1,db1", "root", "root", "0644", text)
            for name, text in texts.items()
        )
        self.cast = cast_of(Bundle("pod1", "24.11", files), {})
        self._codes = list(codes)
        self.asked: list[str] = []

    def on_host(self, host: str, argv: Sequence[str], limit_s: float = 30) -> Result:
        self.asked.append(argv[-1])
        code = self._codes.pop(0) if "exit 75" in argv[-1] else 0
        return Result(tuple(argv), code, _LOG if "*.log" in argv[-1] else "", "")

    def ctl(self, *argv: str, limit_s: float = 30) -> Result:
        return Result(argv, 0, "", "")

    def fill_file(self, *_: object) -> None:
        """Takes any file."""

    def write_private(self, *_: object) -> None:
        """Takes any text."""


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database.time, "sleep", lambda _: None)


def test_a_server_that_is_slow_is_waited_for() -> None:
    machine: Any = _Machine(75, 75, 75, 0)
    assert database.start(machine) == ()
    assert "slurmdbd" in machine.asked


def test_a_server_that_is_gone_is_not_waited_for_and_its_errors_are_told_once() -> None:
    machine: Any = _Machine(75, 1)
    assert database.start(machine) == (
        "MariaDB did not start: [ERROR] no space left",
        "MariaDB did not start: [ERROR] Aborting",
    )
    assert "slurmdbd" not in machine.asked
