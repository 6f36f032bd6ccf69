"""`slurmwright render`: write every file of the cluster, or one clear error and nothing."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import cluster_file, lines_of, load_cluster
from slurmwright.render import bundle_notes, render_notes
from slurmwright.render import render as render_bundle
from slurmwright.report.console import print_result


@click.command("render")
@click.option(
    "-i",
    "--inventory",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of cluster.yaml, or the file.",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder to write. [default: INVENTORY/rendered]"
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def render(inventory: Path, output: Path | None, form: str) -> None:
    """Write the Slurm files of a cluster and bundle.json, which lists them.

    OUTPUT is replaced as a whole or left as it was; a folder that holds other files is refused.
    """
    cluster = load_cluster(inventory)
    facts = load_facts(inventory)
    check_facts(cluster, facts, inventory)
    with lines_of(inventory):
        bundle = render_bundle(cluster, facts)
    out = output or cluster_file(inventory).parent / "rendered"
    bundle.write(out)
    if form == "json":
        click.echo(json.dumps(bundle.as_json(), indent=2))
        return
    table = Table(show_edge=False, pad_edge=False)
    for column in ("file", "hosts", "owner", "mode", "written to"):
        table.add_column(column)
    for file in bundle.files:
        owner = f"{file.owner}:{file.group}"
        table.add_row(file.path, file.hosts, owner, file.mode, escape(str(out / file.source)))
    print_result(table)
    for note in (*render_notes(cluster, facts), *bundle_notes(cluster, bundle)):
        assumed = note.name.endswith("-assumed")
        first, then = ("assumed", "to make it sure") if assumed else (note.severity.value, "what to do")
        click.echo(f"{first}: {note.message}; {then}: {note.fix}")
