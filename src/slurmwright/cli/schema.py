"""`slurmwright schema`: print the JSON Schema of cluster.yaml, for editors."""

from __future__ import annotations

import json

import click

from slurmwright.model.schema import cluster_schema


@click.command("schema")
def schema() -> None:
    """Print a JSON Schema (2020-12) of cluster.yaml.

    A YAML language server takes it from the first line of cluster.yaml:
    `# yaml-language-server: $schema=cluster.schema.json`
    """
    click.echo(json.dumps(cluster_schema(), indent=2))
