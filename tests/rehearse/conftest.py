"""Recorded output of real Slurm in a rehearsal; tests/data/rehearsal/README.md tells where it comes from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

_FOLDER = Path(__file__).parents[1] / "data" / "rehearsal"


@pytest.fixture(scope="session")
def capture() -> Callable[[str, str], str]:
    """A function that gives a recorded file of a release."""
    return lambda release, name: (_FOLDER / release / name).read_text(encoding="utf-8")
