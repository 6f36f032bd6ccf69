"""The guests' image: when it is built anew, and who may build it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.run import Local
from slurmwright.rehearse.machines import image
from slurmwright.rehearse.machines.image import FILES, ensure_image, image_name


def test_a_change_of_what_is_in_the_image_is_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = image_name("24.11")
    assert before.startswith("24.11-")
    monkeypatch.setattr(image, "PACKAGES", (*image.PACKAGES, "strace"))
    assert image_name("24.11") != before


def test_a_change_of_a_file_of_ours_is_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    before = image_name("24.11")
    monkeypatch.setattr(image, "_text", lambda name: f"changed {name}")
    assert image_name("24.11") != before


def test_every_file_of_ours_is_there() -> None:
    folder = Path(image.__file__).parent / "guest"
    assert {source for _, _, source in FILES} | {"init"} == {
        path.name for path in folder.iterdir() if path.is_file()
    }


def test_a_series_that_no_suite_ships_is_refused_with_those_that_one_does() -> None:
    with pytest.raises(InputError, match=r"guests can have 22\.05, 24\.11, 26\.05"):
        ensure_image("23.02", Path("/nowhere"), Local(), lambda _: None)


def test_an_image_that_is_there_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "images" / image_name("24.11")
    folder.mkdir(parents=True)
    assert ensure_image("24.11", tmp_path, Local(), lambda _: None).disk == folder / "disk.img"


def test_an_image_that_root_has_built_serves_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(image, "_OF_ROOT", tmp_path / "root")
    folder = tmp_path / "root" / "images" / image_name("24.11")
    folder.mkdir(parents=True)
    found = ensure_image("24.11", tmp_path / "mine", Local(), lambda _: None)
    assert found.kernel == folder / "vmlinuz"


def test_only_root_builds_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "_OF_ROOT", tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SlurmwrightError, match="only root can build it"):
        ensure_image("24.11", tmp_path, Local(), lambda _: None)
