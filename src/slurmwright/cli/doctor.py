"""`slurmwright doctor`: what is wrong with the living cluster, as few causes with what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from slurmwright.catalogue.findings import kinds_by_name
from slurmwright.core.finding import exit_code
from slurmwright.doctor.judge import judge
from slurmwright.doctor.reading import read_hosts
from slurmwright.report.console import print_result
from slurmwright.report.findings_view import draw_findings, findings_json


@click.command("doctor")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    required=True,
    help="A folder of captured outputs and logs, or a folder for each host below it.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(source: Path, form: str) -> None:
    """Join what hosts, logs and jobs show into few causes, each with what to do.

    Nothing is changed anywhere. Exit code 0: nothing of warning or above; 1: something; 2: nothing could be
    read.
    """
    findings = judge(read_hosts(source))
    if form == "json":
        click.echo(json.dumps(findings_json(findings), indent=2))
    else:
        print_result(draw_findings(findings, kinds_by_name(), str(source)))
    sys.exit(exit_code(findings))
