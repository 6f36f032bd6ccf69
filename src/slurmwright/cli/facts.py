"""`slurmwright facts check`: every host against its siblings and its type."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from slurmwright.core.errors import InputError
from slurmwright.core.finding import exit_code
from slurmwright.discover.judge_hosts import judge
from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.report.console import print_result
from slurmwright.report.findings_view import draw_findings, findings_json


@click.group("facts")
def facts() -> None:
    """What discovery read from the hosts."""


@facts.command("check")
@click.option(
    "-i", "--inventory", type=click.Path(path_type=Path), required=True, help="Folder of cluster.yaml."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def check(inventory: Path, form: str) -> None:
    """Hold every host against most of its siblings, and these against their type.

    Outliers are found by majority, so that a wrong row of the catalogue does not accuse every host. Exit
    code 0: nothing of warning or above; 1: something; 2: there are no facts to look at.
    """
    cluster, known = load_cluster(inventory), load_facts(inventory)
    if not known:
        raise InputError.of("holds no facts; first run: slurmwright discover -i DIR", str(inventory))
    findings = judge(cluster, known, inventory)
    if form == "json":
        click.echo(json.dumps(findings_json(findings), indent=2))
    else:
        print_result(draw_findings(findings, {}, str(inventory)))
    sys.exit(exit_code(findings))
