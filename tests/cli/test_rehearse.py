"""`slurmwright rehearse`, as far as it goes without a Slurm: what it refuses before anything is started."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from slurmwright.cli.rehearse import rehearse
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.render import render

INVENTORIES = Path(__file__).parents[2] / "inventories"
LAB, PAIR = INVENTORIES / "lab-1node", INVENTORIES / "dgx-a100-20n"


def _refusal(*arguments: str) -> str:
    with pytest.raises(SlurmwrightError) as caught:
        CliRunner().invoke(rehearse, arguments, catch_exceptions=False)
    return str(caught.value)


def test_the_bundle_of_another_cluster_is_refused(tmp_path: Path) -> None:
    render(load_cluster(PAIR), load_facts(PAIR)).write(tmp_path / "out")
    said = _refusal("-i", str(LAB), "--bundle", str(tmp_path / "out"))
    assert said.startswith(
        f"{tmp_path}/out/bundle.json: is the bundle of cluster 'a100', and {LAB} describes 'lab'"
    )


def test_a_release_without_a_root_names_the_nearest() -> None:
    said = _refusal("-i", str(LAB), "--release", "25.05")
    assert "no Debian root for Slurm 25.05; nearest are 24.11 and 26.05" in said


def test_a_prefix_without_slurm_is_refused(tmp_path: Path) -> None:
    assert str(tmp_path) in _refusal("-i", str(LAB), "--slurm-prefix", str(tmp_path))


def test_a_bundle_is_read_before_anything_is_built(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"bundle\.json is missing"):
        CliRunner().invoke(
            rehearse,
            ["-i", str(LAB), "--bundle", str(tmp_path), "--release", "22.05"],
            catch_exceptions=False,
        )
