"""`slurmwright types`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from slurmwright.catalogue.node_types import node_type_names
from slurmwright.cli.types import types
from slurmwright.core.errors import InputError


def test_without_a_name_all_types_are_listed() -> None:
    result = CliRunner().invoke(types, [])
    assert result.exit_code == 0
    assert all(name in result.output for name in node_type_names())


def test_the_list_as_json() -> None:
    document = json.loads(CliRunner().invoke(types, ["--format", "json"]).output)
    assert document["format"] == "slurmwright/node-types/1"
    assert [row["name"] for row in document["types"]] == list(node_type_names())


def test_one_type_is_drawn_without_colour_on_a_pipe() -> None:
    result = CliRunner().invoke(types, ["dgx-a100-80gb"])
    assert "NUMA node 3: cores 48-63, OS CPUs 48-63,176-191" in result.output
    assert "\x1b" not in result.output


def test_one_type_as_json() -> None:
    document = json.loads(CliRunner().invoke(types, ["dgx-h100", "--format", "json"]).output)
    assert document["format"] == "slurmwright/node-type/1"
    assert document["name"] == "dgx-h100"


def test_an_unknown_type_is_one_line_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"did you mean 'dgx-h100'\?"):
        CliRunner().invoke(types, ["dgx-h10"], catch_exceptions=False)
