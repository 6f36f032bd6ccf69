"""`slurmwright types`: list the node types of the catalogue, or draw one."""

from __future__ import annotations

import json

import click

from slurmwright.catalogue.node_types import load_node_type, node_type_names
from slurmwright.report.console import print_result
from slurmwright.report.types_view import draw_type, draw_types, type_json, types_table


@click.command("types")
@click.argument("name", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def types(name: str | None, form: str) -> None:
    """List the node types of the catalogue, or show NAME with its NUMA, GPU and NIC layout.

    What is not known is shown as unknown. AMD types are listed and marked: render refuses them.
    """
    if name is None:
        rows = types_table(node_type_names())
        if form == "json":
            click.echo(json.dumps({"format": "slurmwright/node-types/1", "types": rows}, indent=2))
        else:
            print_result(draw_types(rows))
        return
    kind = load_node_type(name)
    if form == "json":
        click.echo(json.dumps(type_json(kind), indent=2))
    else:
        print_result(draw_type(kind))
