"""Fixtures that every room's tests may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def field_data() -> Path:
    """The folder of field data that SLURMWRIGHT_FIELD_DATA names; without it such tests are skipped."""
    folder = os.environ.get("SLURMWRIGHT_FIELD_DATA", "")
    if not folder or not Path(folder).is_dir():
        pytest.skip("SLURMWRIGHT_FIELD_DATA does not name a folder of field data")
    return Path(folder)
