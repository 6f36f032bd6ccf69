"""`slurmwright plan`: what a push would change, what each daemon must do for it, and in which order."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from slurmwright.cli.against import bundle_of_revision
from slurmwright.cli.live import Former, former_of, reachable, say_unread
from slurmwright.cli.reach import hosts_of
from slurmwright.core.bundle import Bundle, read_bundle
from slurmwright.core.run import Local
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts, check_facts, load_facts
from slurmwright.model.load import lines_of, load_cluster
from slurmwright.model.plugin_builds import misfits
from slurmwright.plan import compare, plan_json
from slurmwright.render import render
from slurmwright.report.console import print_result
from slurmwright.report.plan_view import draw_drift, draw_plan


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
    help="Folder of a bundle that stands for what the hosts have now.",
)
@click.option("--against-git", metavar="REV", help="Render cluster.yaml and facts as of this commit.")
@click.option(
    "--live/--no-live",
    default=None,
    help="Read what the hosts hold; --no-live takes INVENTORY/rendered.  [default: --live where a controller "
    "answers]",
)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the plan to this file too, as JSON."
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def plan(
    inventory: Path,
    against: Path | None,
    against_git: str | None,
    live: bool | None,
    output: Path | None,
    form: str,
) -> None:
    """Show what rendering this inventory changes: each change with its effect on every daemon and on running
    jobs, then the steps in their order.

    Order, letter case, folded ranges and defaults written out are no change. It is held against what the
    hosts hold, over SSH as root or with sudo; where no controller answers, against what was rendered last.

    Exit code 0: nothing to do; 1: changes, or some hosts could not be read; 2: the two could not be compared.
    """
    if sum((against is not None, against_git is not None, bool(live))) > 1:
        raise click.UsageError("--against, --against-git and --live exclude each other")
    cluster, facts = _read(inventory)
    new = _rendered(inventory, cluster, facts)
    former = _former(inventory, cluster, against, against_git, live, new)
    found = compare(former.bundle, new)
    plugins = list(misfits(cluster, facts))
    document = {**plan_json(found), **_of_hosts(former), **({"plugins": plugins} if plugins else {})}
    if output:
        output.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    if form == "json":
        click.echo(json.dumps(document, indent=2))
    else:
        print_result(draw_drift(former.drift))
        print_result(draw_plan(found))
    say_unread(former)
    for one in plugins:
        click.echo(f"warning: {one}", err=True)
    sys.exit(1 if found.changes or former.drift or former.unread else 0)


def _of_hosts(former: Former) -> dict[str, object]:
    """What only hosts tell; a plan between two bundles has none of it."""
    drift = {"drift": [one.as_json() for one in former.drift]} if former.drift else {}
    return {**drift, **({"not_read": former.unread} if former.unread else {})}


def render_inventory(inventory: Path) -> Bundle:
    """The bundle of a folder as it is now."""
    return _rendered(inventory, *_read(inventory))


def _read(inventory: Path) -> tuple[Cluster, Mapping[str, HostFacts]]:
    cluster = load_cluster(inventory)
    facts = load_facts(inventory)
    check_facts(cluster, facts, inventory)
    return cluster, facts


def _rendered(inventory: Path, cluster: Cluster, facts: Mapping[str, HostFacts]) -> Bundle:
    with lines_of(inventory):
        return render(cluster, facts)


def _former(
    inventory: Path,
    cluster: Cluster,
    against: Path | None,
    revision: str | None,
    live: bool | None,
    new: Bundle,
) -> Former:
    if revision:
        return Former(bundle_of_revision(inventory, revision, Local(), render_inventory))
    if against is None and live is not False:
        hosts = hosts_of(cluster)
        why = "" if live else reachable(hosts, cluster)
        if not why:
            return former_of(hosts, inventory, new)
        click.echo(f"no controller answers ({why}); compared with what was rendered last", err=True)
    folder = inventory if inventory.is_dir() else inventory.parent
    bundle, edited = read_bundle(against or folder / "rendered")
    for source in edited:
        click.echo(f"{source} was edited since it was rendered; it is taken as it is now", err=True)
    return Former(bundle)
