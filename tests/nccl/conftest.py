"""What the tests of bench and tune share: an inventory, and a Slurm that only pretends."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.verify import ways

from .pretended import Pretended


@pytest.fixture
def inventory(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder with the CLUSTER of the module."""
    folder = tmp_path / "inventory"
    folder.mkdir()
    (folder / "cluster.yaml").write_text(request.module.CLUSTER, encoding="utf-8")
    return folder


@pytest.fixture
def slurm(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pretended:
    """Whatever the commands submit goes there, to the NODES of the module."""
    folder = tmp_path / "bin"
    folder.mkdir()
    found = Pretended(folder, request.module.NODES)
    monkeypatch.setattr(ways, "way", lambda *_: found)
    return found
