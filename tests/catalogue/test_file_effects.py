"""What a changed file around Slurm's own costs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slurmwright.catalogue.file_effects import file_effect
from slurmwright.catalogue.options import file_names

INVENTORIES = Path(__file__).parents[2] / "inventories"


@pytest.mark.parametrize(
    ("path", "row", "slurmd", "drain"),
    [
        ("/etc/systemd/system/slurmd.service.d/slurmwright.conf", "slurmd-unit", "restart", False),
        ("/etc/default/slurmd", "slurmd-unit", "restart", False),
        ("/etc/slurm/prolog.sh", "scripts", "none", False),
        ("/etc/nvidia-imex/nodes_config.cfg", "imex", "none", True),
        ("/etc/slurm/plugstack.conf", "plugstack", "restart", False),
    ],
)
def test_the_cost_of_a_file(path: str, row: str, slurmd: str, drain: bool) -> None:
    found = file_effect(path)
    assert found is not None
    assert (found.id, found.slurmd, found.drain) == (row, slurmd, drain)


def test_a_file_that_nobody_is_known_to_read_has_no_row() -> None:
    assert file_effect("/etc/motd") is None


def test_every_file_that_render_writes_is_slurms_own_or_has_a_row() -> None:
    for index in sorted(INVENTORIES.glob("*/rendered/bundle.json")):
        for file in json.loads(index.read_text(encoding="utf-8"))["files"]:
            name = file["path"].rpartition("/")[2]
            assert name in file_names() or file_effect(file["path"]), file["path"]
