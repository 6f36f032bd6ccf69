"""`slurmwright discover`: what the hardware says, as facts or as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import click
import yaml

from slurmwright.core.errors import InputError
from slurmwright.discover.parse.kinds import KINDS, parse_json

_LONGEST = 50_000_000


@click.command("discover")
@click.option(
    "--parse",
    "parse",
    type=(click.Choice(list(KINDS)), click.Path(path_type=Path)),
    metavar="KIND FILE",
    help=f"Read one captured output and show what it says. KIND: {', '.join(KINDS)}.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def discover(parse: tuple[str, Path] | None, form: str) -> None:
    """Read command output of a host; text that can be read in two ways is refused with line and column."""
    if parse is None:
        raise click.UsageError("nothing to do; name --parse KIND FILE")
    kind, file = parse
    found = parse_json(kind, _text(file), str(file))
    if form == "json":
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo(yaml.safe_dump(json.loads(json.dumps(found)), sort_keys=False), nl=False)


def _text(file: Path) -> str:
    if file.is_dir():
        raise InputError.of("is a folder; expected a file of captured output", str(file))
    raw = file.read_bytes()
    if len(raw) > _LONGEST:
        raise InputError.of(f"is {len(raw)} bytes long; no command prints so much", str(file))
    return raw.decode(errors="replace")
