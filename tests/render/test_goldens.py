"""The files beside each example are what it renders to, byte for byte.

`slurmwright render -i inventories/NAME` takes a wanted change over; read the diff before it is committed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.render import render

EXAMPLES = Path(__file__).parents[2] / "inventories"


def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize("name", sorted(path.parent.name for path in EXAMPLES.glob("*/cluster.yaml")))
def test_an_example_renders_to_the_files_beside_it(name: str, tmp_path: Path) -> None:
    folder = EXAMPLES / name
    render(load_cluster(folder), load_facts(folder)).write(tmp_path / "out")
    assert contents(tmp_path / "out") == contents(folder / "rendered")
