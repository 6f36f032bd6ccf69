"""Folders of Slurm's files, written from the texts in which a test differs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes a folder from texts: slurm, gres, … by their names without `.conf`."""

    def write(**texts: str) -> Path:
        target = tmp_path / "written"
        target.mkdir(exist_ok=True)
        for name, text in texts.items():
            file = "topology.yaml" if name == "yaml" else f"{name}.conf"
            (target / file).write_text(text, encoding="utf-8", errors="surrogateescape")
        return target

    return write
