"""`slurmwright explain`: what a key does and what a change of it costs, or what a finding means."""

from __future__ import annotations

import json
from typing import Any

import click

from slurmwright.catalogue.explain import explain_all
from slurmwright.catalogue.findings import kinds_by_name
from slurmwright.catalogue.nccl_variables import variables
from slurmwright.report.console import print_result
from slurmwright.report.explain_view import draw_explanation, explanation_json
from slurmwright.report.nccl_variable_view import draw_variable, variable_json
from slurmwright.report.rule_page import draw_rule, rule_json
from slurmwright.rules.registry import rules_by_name


@click.command("explain")
@click.argument("name")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(name: str, form: str) -> None:
    """Explain a key of a Slurm file (what it does, why this value, what a change costs), a finding, or a
    variable of NCCL.

    NAME is a key such as TaskPlugin; slurm.conf:NodeName.State means the one key of several with that name.
    A finding is named by its id or its name: CG001, gpus-unconstrained, FA004.
    """
    rule = rules_by_name().get(name.lower()) or kinds_by_name().get(name.lower())
    if rule is not None:
        _rule(rule_json(rule), form)
        return
    if name.upper() in variables():
        _variable(variable_json(variables()[name.upper()]), form)
        return
    documents = [explanation_json(entry) for entry in explain_all(name)]
    if form == "json":
        click.echo(json.dumps({"format": "slurmwright/explanations/1", "explanations": documents}, indent=2))
        return
    for at, document in enumerate(documents):
        if at:
            click.echo()
        print_result(draw_explanation(document))


def _variable(document: dict[str, Any], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(document, indent=2))
    else:
        print_result(draw_variable(document))


def _rule(document: dict[str, Any], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(document, indent=2))
    else:
        print_result(draw_rule(document))
