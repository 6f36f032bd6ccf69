"""Folders of Slurm's files, as they lie in tests/data and with single words changed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], tuple[Path, str]]:
    """A function that gives (folder, release) of one entry of tests/data/imported/index.yaml."""

    def copy(name: str) -> tuple[Path, str]:
        entry = yaml.safe_load((DATA / "imported/index.yaml").read_text(encoding="utf-8"))[name]
        origin = DATA / "configurations" / entry["of"] if "of" in entry else DATA / "imported" / name
        target = tmp_path / "etc-slurm"
        shutil.copytree(origin, target)
        for file, edits in entry.get("edits", {}).items():
            text = (target / file).read_text(encoding="utf-8")
            for old, new in edits:
                assert old in text, f"{name}/{file} holds no {old!r}"
                text = text.replace(old, new)
            (target / file).write_text(text, encoding="utf-8")
        return target, entry["release"]

    return copy


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
