"""One apply at a time, and a dead one holds nobody up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slurmwright.apply.lock import folder_of, locked
from slurmwright.core.errors import SlurmwrightError

_HOLD = """
import sys, time
from pathlib import Path
from slurmwright.apply.lock import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def held_elsewhere(folder: Path) -> subprocess.Popen[str]:
    other = subprocess.Popen([sys.executable, "-c", _HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    return other


def test_a_second_apply_is_refused_with_owner_and_age(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as other:
        try:
            with pytest.raises(SlurmwrightError, match=rf"process {other.pid}, for \d+ s"), locked(tmp_path):
                pass
        finally:
            other.kill()


def test_the_lock_of_a_killed_process_is_taken_over_with_a_word(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path) as other:
        os.kill(other.pid, signal.SIGKILL)
    with locked(tmp_path) as said:
        assert f"process {other.pid}" in said
        assert "took over" in said


def test_a_lock_that_was_given_back_leaves_no_word(tmp_path: Path) -> None:
    with locked(tmp_path) as said:
        assert said == ""
    with locked(tmp_path) as said:
        assert said == ""


def test_nothing_of_it_is_committed(tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    assert (folder / ".gitignore").read_text(encoding="utf-8") == "*\n"
