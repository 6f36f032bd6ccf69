"""`slurmwright init`: write a first cluster.yaml that loads and renders at once."""

from __future__ import annotations

from pathlib import Path

import click

from slurmwright.core.errors import InputError, Problem
from slurmwright.core.files import write_text
from slurmwright.model.draft import Answers, draft
from slurmwright.model.load import FILE, cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.render import render


@click.command("init")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", required=True, help="Name of the cluster, for example pod1.")
@click.option("--type", "node_type", required=True, help="Node type; `slurmwright types` lists them.")
@click.option("--hosts", required=True, help="Host range, for example 'gpu[001-064]'.")
@click.option("--release", required=True, help="Slurm release, for example 24.11 or 24.11.5.")
@click.option(
    "--controller",
    "controllers",
    multiple=True,
    default=("ctl1",),
    show_default=True,
    help="Host of slurmctld; given twice, the second backs up the first.",
)
@click.option("--address", help="Addresses in the order of the hosts, for example '10.20.1.[1-64]'.")
def init(
    folder: Path,
    name: str,
    node_type: str,
    hosts: str,
    release: str,
    controllers: tuple[str, ...],
    address: str | None,
) -> None:
    """Write DIR/cluster.yaml, with comments, from a few answers."""
    target = folder / FILE
    if target.exists():
        raise InputError.of("exists already and is left as it is; choose another folder", str(target))
    text = draft(Answers(name, node_type, hosts, release, controllers, address))
    _check_renders(text)
    write_text(target, text)
    click.echo(f"wrote {target}; next: slurmwright render -i {folder} -o OUT")


def _check_renders(text: str) -> None:
    """Raise InputError for a type of which too little is known: nobody is left with a file that fails."""
    try:
        render(cluster_from(parse_yaml(text, FILE)), {})
    except InputError as error:
        raise InputError(Problem("--type", 0, 0, problem.message) for problem in error.problems) from None
