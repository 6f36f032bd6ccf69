"""Guests end with the program that started them, however it ends, unless they are kept. QEMU is real here."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

#: Starts a QEMU that stands still, says where everything is, and waits to be ended.
_PROGRAM = """
import sys, time
from slurmwright.rehearse.machines.guests import Guests
with Guests() as guests:
    argv = ["qemu-system-x86_64", "-S", "-display", "none", "-nodefaults", "-m", "16M", "-accel", "tcg"]
    guests._tell("start", "one", argv, str(guests.folder / "log"))
    if "keep" in sys.argv:
        guests.keep()
    print(guests.folder, guests.pid, flush=True)
    if "keep" not in sys.argv:
        time.sleep(60)
"""


def start(*arguments: str) -> tuple[subprocess.Popen[str], Path, int]:
    if shutil.which("qemu-system-x86_64") is None:
        if os.environ.get("CI") == "true":
            pytest.fail("qemu-system-x86_64 is missing: make guests")
        pytest.skip("qemu-system-x86_64 is missing: make guests")
    child = subprocess.Popen([sys.executable, "-c", _PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    folder, keeper = child.stdout.readline().split()
    return child, Path(folder), int(keeper)


def machines(keeper: int) -> list[int]:
    """Every process below the keeper."""
    path = Path(f"/proc/{keeper}/task/{keeper}/children")
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def gone(pids: list[int], limit_s: float = 30) -> bool:
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_guests_whose_program_ends(how: signal.Signals) -> None:
    child, folder, keeper = start()
    running = machines(keeper)
    assert len(running) == 1
    child.send_signal(how)
    child.wait(30)
    assert gone([keeper, *running])
    assert not folder.exists()


def test_a_keeper_that_is_killed_takes_its_guests_along() -> None:
    child, folder, keeper = start()
    running = machines(keeper)
    os.kill(keeper, signal.SIGKILL)
    try:
        assert gone(running)
    finally:
        child.kill()
        child.wait()
        shutil.rmtree(folder, ignore_errors=True)


def test_kept_guests_stay_until_their_keeper_is_ended() -> None:
    child, folder, keeper = start("keep")
    running = machines(keeper)
    child.wait(30)
    try:
        assert len(running) == 1
        assert not gone(running, 1)
        assert folder.exists()
    finally:
        os.kill(keeper, signal.SIGTERM)
    assert gone([keeper, *running])
    assert not folder.exists()
