"""An explanation as a program and as a person read it."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from slurmwright.catalogue.explain import explain, explanations
from slurmwright.report.explain_view import draw_explanation, explanation_json


def text(name: str) -> str:
    out = io.StringIO()
    document = explanation_json(explain(name))
    Console(file=out, width=1000, color_system=None, highlight=False).print(draw_explanation(document))
    return out.getvalue()


def test_the_document_tells_since_when_and_what_a_change_costs() -> None:
    document = explanation_json(explain("slurm.conf:NodeName.Parameters"))
    assert (document["since"], document["until"]) == ("25.11", None)
    effect = document["cost"]["effects"][0]
    assert effect["id"] == "node-sockets"
    assert effect["words"] == ["numa_node_as_socket", "l3cache_as_socket"]


def test_the_text_tells_the_cost_by_release_and_for_running_jobs() -> None:
    drawn = text("GresTypes")
    assert "22.05-23.02: restart slurmctld; then restart slurmd on every node" in drawn
    assert "23.11+: scontrol reconfigure" in drawn
    assert "running jobs: unaffected" in drawn


def test_a_danger_is_told() -> None:
    assert "danger: scontrol reconfigure KILLS slurmctld" in text("slurm.conf:NodeName")


@pytest.mark.parametrize("name", [entry.name for entry in explanations()])
def test_every_key_has_a_document_and_a_text(name: str) -> None:
    assert json.loads(json.dumps(explanation_json(explain(name))))["name"] == name
    drawn = text(name)
    assert explain(name).does in drawn
    assert "None" not in drawn
