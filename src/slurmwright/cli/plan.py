"""`slurmwright plan`: what a push would change, what each daemon must do for it, and in which order."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from slurmwright.cli.against import bundle_of_revision
from slurmwright.core.bundle import Bundle, read_bundle
from slurmwright.core.run import Local
from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import lines_of, load_cluster
from slurmwright.plan import compare, plan_json
from slurmwright.render import render
from slurmwright.report.console import print_result
from slurmwright.report.plan_view import draw_plan


@click.command("plan")
@click.option(
    "-i",
    "--inventory",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of cluster.yaml, or the file.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    help="Folder of a bundle: what the hosts have now. [default: INVENTORY/rendered]",
)
@click.option("--against-git", metavar="REV", help="Render cluster.yaml and facts as of this commit.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the plan to this file too, as JSON."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def plan(
    inventory: Path, against: Path | None, against_git: str | None, output: Path | None, form: str
) -> None:
    """Show what rendering this inventory changes: each change with its effect on every daemon and on running
    jobs, then the steps in their order.

    Order, letter case, folded ranges and defaults written out are no change.

    Exit code 0: nothing to do; 1: changes; 2: the two could not be compared.
    """
    if against and against_git:
        raise click.UsageError("--against and --against-git exclude each other")
    old, edited = _old(inventory, against, against_git)
    found = compare(old, render_inventory(inventory))
    document = plan_json(found)
    for source in edited:
        click.echo(f"{source} was edited since it was rendered; it is taken as it is now", err=True)
    if output:
        output.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if form == "json":
        click.echo(json.dumps(document, indent=2))
    else:
        print_result(draw_plan(found))
    sys.exit(1 if found.changes else 0)


def render_inventory(inventory: Path) -> Bundle:
    """The bundle of a folder as it is now."""
    cluster = load_cluster(inventory)
    facts = load_facts(inventory)
    check_facts(cluster, facts, inventory)
    with lines_of(inventory):
        return render(cluster, facts)


def _old(inventory: Path, against: Path | None, revision: str | None) -> tuple[Bundle, tuple[str, ...]]:
    if revision:
        return bundle_of_revision(inventory, revision, Local(), render_inventory), ()
    folder = inventory if inventory.is_dir() else inventory.parent
    return read_bundle(against or folder / "rendered")
