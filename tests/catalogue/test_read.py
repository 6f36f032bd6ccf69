"""A wrong data file is one clear error with the file and the key, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.catalogue.node_types import NodeType
from slurmwright.catalogue.read import load, row
from slurmwright.core.errors import InputError


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [1", "is not YAML"),
        ("a: 1\n\tb: 2\n", "is not YAML"),
        ("- a\n", "holds list, expected a mapping"),
        ("", "holds NoneType, expected a mapping"),
    ],
)
def test_a_broken_file_is_named_with_its_fault(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: {says}")
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.yaml: cannot be read"):
        load(tmp_path / "gone.yaml")


def test_all_wrong_fields_of_a_row_are_told_at_once(tmp_path: Path) -> None:
    raw = {"cpu": {"sockets": "two"}, "gpus": [{"index": 0, "pci": 2820.0}], "colour": "red"}
    with pytest.raises(InputError) as caught:
        row(NodeType, raw, tmp_path / "box.yaml", name="box")
    fields = [problem.message.split(":")[0] for problem in caught.value.problems]
    assert fields == ["colour", "cpu.sockets", "gpus.0.pci"]


def test_a_row_that_is_no_mapping_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="box: Input should be a valid dictionary"):
        row(NodeType, "dgx", tmp_path / "types.yaml", "box", name="box")
