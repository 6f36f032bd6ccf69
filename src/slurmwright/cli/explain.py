"""`slurmwright explain`: what a key does, why this value, since which release, and what a change costs."""

from __future__ import annotations

import json

import click

from slurmwright.catalogue.explain import explain_all
from slurmwright.report.console import print_result
from slurmwright.report.explain_view import draw_explanation, explanation_json


@click.command("explain")
@click.argument("name")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(name: str, form: str) -> None:
    """Explain the key NAME of a Slurm file: what it does, why this value, what a change costs.

    NAME is a key such as TaskPlugin; slurm.conf:NodeName.State means the one key of several with that name.
    """
    documents = [explanation_json(entry) for entry in explain_all(name)]
    if form == "json":
        click.echo(json.dumps({"format": "slurmwright/explanations/1", "explanations": documents}, indent=2))
        return
    for at, document in enumerate(documents):
        if at:
            click.echo()
        print_result(draw_explanation(document))
