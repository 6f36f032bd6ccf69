"""`slurmwright discover`: what the hardware says, as facts beside the inventory or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
import yaml
from rich.console import Console
from rich.progress import Progress

from slurmwright.cli.ssh_options import ssh_options
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold
from slurmwright.discover.draft import draft_cluster
from slurmwright.discover.evidence import Discovered, discover_host
from slurmwright.discover.facts_yaml import write_facts
from slurmwright.discover.parse.kinds import KINDS, parse_json
from slurmwright.discover.scrub import Scrubber
from slurmwright.discover.sections import read_folder, write_folder
from slurmwright.model.facts import HostFacts, load_facts

if TYPE_CHECKING:
    from slurmwright.discover.ssh import SshOptions

_LONGEST = 50_000_000


@click.command("discover")
@click.argument("hosts", nargs=-1)
@click.option("-i", "--inventory", type=click.Path(path_type=Path), help="Folder of cluster.yaml and facts/.")
@click.option("--from", "source", type=click.Path(path_type=Path), help="Read DIR/HOST/SECTION.txt, no host.")
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    help="Write what was read to DIR, serials, MACs, GUIDs replaced.",
)
@click.option("--draft", is_flag=True, help="Print a first cluster.yaml for the hosts that have facts.")
@ssh_options
@click.option(
    "--parse",
    "parse",
    type=(click.Choice(list(KINDS)), click.Path(path_type=Path)),
    metavar="KIND FILE",
    help=f"Read one captured output and show what it says. KIND: {', '.join(KINDS)}.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def discover(
    hosts: tuple[str, ...],
    inventory: Path | None,
    source: Path | None,
    bundle: Path | None,
    draft: bool,
    user: str | None,
    ssh_config: Path,
    at_once: int,
    limit_s: float,
    connect_s: float,
    parse: tuple[str, Path] | None,
    form: str,
) -> None:
    """Read the hardware of HOSTS (all of the inventory by default) over SSH and write facts/HOST.yaml.

    Nothing on a host is changed and no password is asked for. Exit code 0: every host was read; 1: some were
    not, and why is said; 2: none was.
    """
    if parse is not None:
        _show(parse_json(parse[0], _text(parse[1]), str(parse[1])), form)
        return
    if source is None and inventory is None:
        raise click.UsageError("name --inventory DIR, --from DIR or --parse KIND FILE")
    if draft and source is None and not hosts and inventory is not None:
        _draft(load_facts(inventory))
        return
    failed: dict[str, str] = {}
    if source is not None:
        sections = read_folder(source)
        if hosts:
            sections = {host: sections[host] for host in _named(hosts, sections)}
    else:
        assert inventory is not None  # noqa: S101 - looked at above
        from slurmwright.discover.ssh import SshOptions

        options = SshOptions(ssh_config, user, connect_s, limit_s)
        sections, failed = _over_ssh(hosts, inventory, options, at_once)
    if bundle is not None:
        scrubber = Scrubber()
        write_folder(
            bundle,
            {
                host: {name: scrubber.scrub(text) for name, text in own.items()}
                for host, own in sections.items()
            },
        )
    found: dict[str, Discovered] = {}
    written: list[str] = []
    for host, own in sections.items():
        try:
            one = discover_host(host, own)
            if inventory is not None and write_facts(inventory, one.facts):
                written.append(host)
            found[host] = one
        except InputError as error:
            failed[host] = error.problems[0].message
    if draft:
        _draft({host: one.facts for host, one in found.items()})
    _report(found, failed, written, form, draft)
    sys.exit(0 if not failed else 1 if found else 2)


def _named(hosts: tuple[str, ...], known: Mapping[str, object]) -> list[str]:
    names = [name for text in hosts for name in expand(text)]
    for name in names:
        if name not in known:
            raise InputError.of(f"'{name}' has no captured output here; there is {fold(known)}")
    return names


def _over_ssh(
    hosts: tuple[str, ...], inventory: Path, options: SshOptions, at_once: int
) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    from slurmwright.discover.collect import collect
    from slurmwright.discover.ssh import SshReader

    names, addresses = _hosts(hosts, inventory)
    reader = SshReader(options, addresses)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("hosts", total=len(names))
        done = collect(names, reader, at_once, lambda _: progress.advance(task))
    return (
        {one.host: one.sections for one in done if not one.error},
        {one.host: one.error for one in done if one.error},
    )


def _hosts(hosts: tuple[str, ...], inventory: Path) -> tuple[list[str], dict[str, str]]:
    """Hosts of the inventory need a cluster.yaml only where none are named."""
    from slurmwright.model.load import cluster_file, load_cluster

    names = list(dict.fromkeys(name for text in hosts for name in expand(text)))
    if names and not cluster_file(inventory).exists():
        return names, {}
    cluster = load_cluster(inventory)
    addresses = {
        host: address
        for group in cluster.nodes
        if group.address
        for host, address in zip(group.hosts, group.address, strict=True)
    }
    known = [host for group in cluster.nodes for host in group.hosts]
    strangers = set(names) - set(known)
    if strangers:
        told = "no node of cluster.yaml yet; render refuses their facts until they are added"
        click.echo(f"note: {fold(strangers)}: {told}", err=True)
    return names or known, addresses


def _report(
    found: Mapping[str, Discovered], failed: Mapping[str, str], written: list[str], form: str, draft: bool
) -> None:
    if draft:
        for host, one in found.items():
            for note in one.notes:
                click.echo(f"{host}: note: {note}", err=True)
        for host, reason in failed.items():
            click.echo(f"{host}: {reason}", err=True)
        return
    if form == "json":
        hosts = {
            host: {"facts": one.facts.model_dump(mode="json", exclude_none=True), "notes": list(one.notes)}
            for host, one in found.items()
        }
        click.echo(
            json.dumps({"format": "slurmwright/discovery/1", "hosts": hosts, "failed": failed}, indent=2)
        )
    else:
        click.echo(f"read {len(found)} hosts, {len(written)} facts files changed, {len(failed)} hosts failed")
        for host, one in found.items():
            for note in one.notes:
                click.echo(f"{host}: note: {note}")
    for host, reason in failed.items():
        click.echo(f"{host}: {reason}", err=form == "json")


def _draft(facts: Mapping[str, HostFacts]) -> None:
    click.echo(draft_cluster(facts), nl=False)


def _show(found: Mapping[str, object], form: str) -> None:
    if form == "json":
        click.echo(json.dumps(found, indent=2))
    else:
        click.echo(yaml.safe_dump(json.loads(json.dumps(found)), sort_keys=False), nl=False)


def _text(file: Path) -> str:
    if file.is_dir():
        raise InputError.of("is a folder; expected a file of captured output", str(file))
    with file.open("rb") as stream:
        raw = stream.read(_LONGEST + 1)
    if len(raw) > _LONGEST:
        raise InputError.of(f"is longer than {_LONGEST} bytes; no command prints so much", str(file))
    return raw.decode(errors="replace")
