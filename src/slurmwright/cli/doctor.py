"""`slurmwright doctor`: what is wrong with the living cluster, as few causes with what to do."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import Progress

from slurmwright.catalogue.findings import kinds_by_name
from slurmwright.cli.ssh_options import ssh_options
from slurmwright.core.errors import InputError
from slurmwright.core.finding import exit_code
from slurmwright.core.hosts import expand, fold
from slurmwright.doctor.judge import judge
from slurmwright.doctor.reading import read_hosts
from slurmwright.report.console import print_result
from slurmwright.report.findings_view import draw_findings, findings_json

if TYPE_CHECKING:
    from slurmwright.discover.ssh import SshReader
    from slurmwright.doctor.live import Seen
    from slurmwright.doctor.remedies import Remedy
    from slurmwright.model.cluster import Cluster

_JOB = re.compile(r"\d{1,10}(?:_\d{1,10})?\Z")


@click.command("doctor")
@click.argument("hosts", nargs=-1, metavar="[HOSTS... | job ID]")
@click.option("-i", "--inventory", type=click.Path(path_type=Path), help="Folder of cluster.yaml.")
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path),
    help="A folder of captured outputs and logs, or a folder for each host below it; no host is asked.",
)
@ssh_options
@click.option(
    "--probe/--no-probe",
    default=True,
    show_default=True,
    help="job ID: look from inside, by a short step of the running job in its user's name.",
)
@click.option("--fix", is_flag=True, help="Mend what one harmless command mends; shows it and asks first.")
@click.option("--yes", is_flag=True, help="With --fix: do not ask.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(
    hosts: tuple[str, ...],
    inventory: Path | None,
    source: Path | None,
    user: str | None,
    ssh_config: Path,
    at_once: int,
    limit_s: float,
    connect_s: float,
    probe: bool,
    fix: bool,
    yes: bool,
    form: str,
) -> None:
    """Join what HOSTS (all of the inventory by default), their logs and jobs show into few causes, each with
    what to do; `doctor -i DIR job ID` looks at one job and its nodes.

    Nothing is changed without --fix and a yes to what it shows, and no password is asked for. Exit code 0:
    nothing of warning or above; 1: something, a host that cannot be reached too; 2: nothing could be read;
    3: a command of --fix failed.
    """
    if (source is None) == (inventory is None):
        raise click.UsageError(
            "name --inventory DIR to look at hosts, or --from DIR to look at captured output"
        )
    if fix and source is not None:
        raise click.UsageError("--fix mends living hosts: name them with --inventory DIR")
    reader = None
    if source is not None:
        findings, looked_at = judge(read_hosts(source)), str(source)
    else:
        assert inventory is not None  # noqa: S101 - one of them is there
        from slurmwright.discover.ssh import SshOptions, SshReader
        from slurmwright.doctor.remedies import remedies
        from slurmwright.model.load import load_cluster

        cluster = load_cluster(inventory)
        reader = SshReader(SshOptions(ssh_config, user, connect_s, limit_s), _addresses(cluster))
        seen = _job(hosts, cluster, reader, at_once, probe) if hosts[:1] == ("job",) else None
        seen = seen or _look(_named(hosts, cluster), reader, at_once)
        if not seen.hosts:
            raise InputError.of("\n".join(f"{host}: {told.message}" for host, told in seen.more))
        findings, looked_at = judge(seen.hosts, seen.more), f"{len(seen.hosts)} hosts"
    if form == "json":
        click.echo(json.dumps(findings_json(findings), indent=2))
    else:
        print_result(draw_findings(findings, kinds_by_name(), looked_at))
    if fix and reader is not None:
        _mend(remedies(findings, _everyone(cluster)), reader, at_once, yes)
    sys.exit(exit_code(findings))


def _mend(planned: Sequence[Remedy], reader: SshReader, at_once: int, yes: bool) -> None:
    """Show every command, ask, and run them; exit 3 where one of them failed."""
    from slurmwright.doctor.remedies import carry_out

    if not planned:
        click.echo("nothing here is mended by one harmless command; see the fix of each finding", err=True)
        return
    for command in dict.fromkeys(one.command for one in planned):
        click.echo(f"{fold(one.host for one in planned if one.command == command)}: {command}", err=True)
    if not yes and not click.confirm("Run these commands?", err=True):
        raise InputError.of("nothing was changed")
    done = carry_out(planned, reader, at_once, lambda _: None)
    failed = [one for one in done if one.error]
    for one in failed:
        click.echo(f"{one.host}: {one.command}: {one.error}", err=True)
    click.echo(f"{len(done) - len(failed)} of {len(done)} commands went well; run doctor again", err=True)
    if failed:
        sys.exit(3)


def _look(names: Sequence[str], reader: SshReader, at_once: int, job: str = "") -> Seen:
    from slurmwright.doctor.live import look

    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("hosts", total=len(names))
        return look(names, reader, at_once, lambda _: progress.advance(task), job)


def _job(hosts: tuple[str, ...], cluster: Cluster, reader: SshReader, at_once: int, probe: bool) -> Seen:
    """The controllers are asked about the job, then its nodes are looked at, then it is from inside."""
    from slurmwright.doctor.live import job_hosts, joined

    if len(hosts) != 2 or not _JOB.match(hosts[1]):
        raise click.UsageError("expected: doctor -i DIR job ID")
    controllers = [one.host for one in cluster.control.controllers]
    first = _look(controllers, reader, at_once, hosts[1])
    if not first.hosts:
        return first
    nodes = job_hosts(first)
    if nodes is None:
        raise InputError.of(f"slurmctld knows no job {hosts[1]}; sacct -j {hosts[1]} has those that are over")
    known = [name for name in nodes if name not in controllers]
    seen = joined(first, _look(known, reader, at_once)) if known else first
    return _inside(seen, hosts[1], cluster, reader, controllers) if probe else seen


def _inside(seen: Seen, number: str, cluster: Cluster, reader: SshReader, controllers: Sequence[str]) -> Seen:
    """With what the processes of the job see, where it runs."""
    from slurmwright.doctor.job_probe import probed, running
    from slurmwright.verify.expect import expected_nodes

    job = running(seen.hosts, number)
    if job is None:
        return seen
    shapes = expected_nodes(cluster, {host.name: host.facts for host in seen.hosts if host.facts})
    return replace(seen, more=(*seen.more, *probed(job, shapes, controllers, reader)))


def _everyone(cluster: Cluster) -> list[str]:
    control = cluster.control
    servers = [*control.controllers, *([control.database] if control.database else ()), *control.login]
    nodes = [host for group in cluster.nodes for host in group.hosts]
    return list(dict.fromkeys([*(one.host for one in servers), *nodes]))


def _named(hosts: tuple[str, ...], cluster: Cluster) -> list[str]:
    every = _everyone(cluster)
    names = list(dict.fromkeys(name for text in hosts for name in expand(text)))
    strangers = [name for name in names if name not in every]
    if strangers:
        raise InputError.of(f"'{strangers[0]}' is no host of cluster.yaml")
    return names or every


def _addresses(cluster: Cluster) -> dict[str, str]:
    return {
        host: address
        for group in cluster.nodes
        if group.address
        for host, address in zip(group.hosts, group.address, strict=True)
    }
