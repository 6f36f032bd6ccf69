"""`slurmwright init`: write a first cluster.yaml that loads and renders at once."""

from __future__ import annotations

from pathlib import Path

import click

from slurmwright.core.errors import InputError
from slurmwright.core.files import write_text
from slurmwright.model.draft import Answers, draft
from slurmwright.model.load import FILE


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
    write_text(target, draft(Answers(name, node_type, hosts, release, controllers, address)))
    click.echo(f"wrote {target}; next: slurmwright render -i {folder} -o OUT")
