"""`slurmwright import`: from an existing /etc/slurm to a cluster.yaml that renders to the same meaning."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from slurmwright.core.files import write_text
from slurmwright.core.finding import Finding, exit_code
from slurmwright.core.release import Release
from slurmwright.importing.command import import_folder, refuse_existing
from slurmwright.model.load import FILE


@click.command("import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="Folder for cluster.yaml."
)
@click.option("--release", help="The Slurm release of the files, such as 24.11 or 24.11.5.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def import_(path: Path, output: Path, release: str | None, form: str) -> None:
    """Write OUTPUT/cluster.yaml from PATH, an /etc/slurm or a copy of one.

    The file is rendered and held against PATH before it is written. Exit code 0: render gives files of the
    same meaning; 1: it was written, and what differs or was left out is listed with its line; 2: nothing was
    written.
    """
    target = output / FILE
    refuse_existing(target)
    found = import_folder(path, Release.parse(release) if release else None)
    write_text(target, found.text)
    if form == "json":
        document = {
            "written": str(target),
            "cluster": found.cluster,
            "nodes": found.nodes,
            "release": str(found.release),
            "release_assumed": release is None,
            "equal": found.equal,
            "findings": [finding.as_json() for finding in found.findings],
        }
        click.echo(json.dumps(document, indent=2))
        sys.exit(exit_code(found.findings))
    for finding in found.findings:
        click.echo(_line(finding))
    said = "means what the source means" if found.equal else "differs from the source as listed above"
    click.echo(f"wrote {target}: {found.nodes} nodes, Slurm {found.release}; what it renders {said}")
    click.echo(f"next: slurmwright rehearse -i {output}")
    sys.exit(exit_code(found.findings))


def _line(finding: Finding) -> str:
    place = f"{finding.file}:{finding.line}" if finding.line else finding.file
    fix = f"; {finding.fix}" if finding.fix else ""
    return f"{finding.severity.value}: {place}: {finding.message}{fix}"
