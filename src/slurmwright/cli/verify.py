"""`slurmwright verify`: prove on the living cluster that jobs see exactly the GPUs they asked for."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.hosts import expand
from slurmwright.core.run import Local, Result
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import load_cluster
from slurmwright.report.console import print_result
from slurmwright.report.verify_view import draw_verify, verify_junit
from slurmwright.topology.host_maps import load_maps
from slurmwright.verify.expect import expected_nodes
from slurmwright.verify.run import verify as run_verify
from slurmwright.verify.session import Admin
from slurmwright.verify.values import Report
from slurmwright.verify.wanted import Wanted
from slurmwright.verify.ways import over_ssh, way


@click.command("verify")
@click.option(
    "-i", "--inventory", type=click.Path(path_type=Path), required=True, help="Folder of cluster.yaml."
)
@click.option("--nodes", default="", help="Only these nodes: gpu[001-004].")
@click.option("--partition", default="", help="Submit to this partition. [default: the one with most nodes]")
@click.option("--account", default="", help="Submit under this account.")
@click.option("--qos", default="", help="Submit with this QOS.")
@click.option("--reservation", default="", help="Submit into this reservation.")
@click.option(
    "--timeout",
    type=click.IntRange(5, 3600),
    default=60,
    show_default=True,
    help="Seconds for each job to be let in, and to run.",
)
@click.option(
    "--from",
    "login",
    default="",
    help="Submit on this host, over SSH. [default: here, else the first login host]",
)
@click.option(
    "--ssh/--no-ssh",
    default=True,
    show_default=True,
    help="Try SSH sessions, and ask hosts over SSH that Slurm cannot use.",
)
@click.option("--symptoms-only", is_flag=True, help="Do not take lines of Slurm's files as evidence.")
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True
)
def verify(
    inventory: Path,
    nodes: str,
    partition: str,
    account: str,
    qos: str,
    reservation: str,
    timeout: int,
    login: str,
    ssh: bool,
    symptoms_only: bool,
    form: str,
) -> None:
    """Run small jobs on idle nodes and hold what they can open, use and touch against the hardware.

    The number of jobs depends on the node types only. Nodes that are busy are left alone and shown as not
    checked; an ordinary user can run it.

    Exit code 0: nothing failed; 1: a check failed; 2: nothing could be checked.
    """
    cluster, facts = load_cluster(inventory), load_facts(inventory)
    check_facts(cluster, facts, inventory)
    hosts = [host for group in cluster.nodes for host in group.hosts]
    shapes = expected_nodes(cluster, facts, load_maps(inventory, hosts, facts))
    wanted = Wanted(
        _known(nodes, hosts),
        partition,
        account,
        qos,
        reservation,
        timeout,
        not symptoms_only,
        ssh,
        cluster.slurm.config_dir,
    )
    local = Local()
    runner = way(cluster, login)
    with _progress() as bar:
        task = bar.add_task("asking slurmctld", total=1)

        def shown(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=max(total, 1))

        report = run_verify(
            cluster.name,
            shapes,
            wanted,
            runner,
            progress=shown,
            admin=_admin(cluster, local) if ssh else None,
        )
    _tell(report, form)
    sys.exit(report.exit_code)


def _known(text: str, hosts: list[str]) -> tuple[str, ...]:
    names = expand(text) if text else ()
    for name in names:
        if name not in hosts:
            raise InputError.of(f"--nodes: '{name}' is no node of this cluster; {did_you_mean(name, hosts)}")
    return names


def _admin(cluster: Cluster, local: Local) -> Admin:
    addresses = {
        host: group.address[at] if group.address else host
        for group in cluster.nodes
        for at, host in enumerate(group.hosts)
    }

    def ask(host: str, script: str) -> Result:
        return over_ssh(addresses[host], local).run(["sh", "-s"], stdin=script, limit_s=60)

    return ask


def _tell(report: Report, form: str) -> None:
    if form == "json":
        click.echo(json.dumps(report.as_json(), indent=2))
    elif form == "junit":
        click.echo(verify_junit(report.as_json()))
    else:
        print_result(draw_verify(report.as_json()))


def _progress() -> Progress:
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
