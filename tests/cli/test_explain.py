"""`slurmwright explain`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from slurmwright.cli.explain import explain
from slurmwright.core.errors import InputError


def test_a_key_is_explained_in_any_letter_case() -> None:
    result = CliRunner().invoke(explain, ["taskplugin"])
    assert result.exit_code == 0
    assert result.output.startswith("slurm.conf:TaskPlugin\n")
    assert "to change" in result.output


def test_a_name_that_means_two_keys_explains_both() -> None:
    lines = CliRunner().invoke(explain, ["State"]).output.splitlines()
    assert {"slurm.conf:NodeName.State", "slurm.conf:PartitionName.State"} <= set(lines)


def test_json() -> None:
    document = json.loads(CliRunner().invoke(explain, ["gres.conf:Cores", "--format", "json"]).output)
    assert document["format"] == "slurmwright/explanations/1"
    assert [entry["name"] for entry in document["explanations"]] == ["gres.conf:Cores"]


def test_an_unknown_name_is_one_line_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"did you mean 'TaskPlugin'\?"):
        CliRunner().invoke(explain, ["TaskPlugn"], catch_exceptions=False)


def test_a_variable_of_nccl_is_explained_with_why_it_is_written() -> None:
    done = CliRunner().invoke(explain, ["nccl_ib_hca", "--format", "json"], catch_exceptions=False)
    document = json.loads(done.stdout)
    assert document["name"] == "NCCL_IB_HCA"
    assert "exact" in document["why"]
    done = CliRunner().invoke(explain, ["NCCL_ALGO"], catch_exceptions=False)
    assert "why we write it" not in done.stdout
    assert "experiment" in done.stdout
