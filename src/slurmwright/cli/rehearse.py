"""`slurmwright rehearse`: run the bundle in a real Slurm on this machine before any cluster is touched."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

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

from slurmwright.core.bundle import INDEX, read_bundle
from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.core.run import Local
from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import load_cluster
from slurmwright.plan import read_plan
from slurmwright.rehearse.expect import expected_nodes, expected_units
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.machines.engine import ENGINE, site
from slurmwright.rehearse.machines.engine import rehearse as rehearse_machines
from slurmwright.rehearse.machines.image import ensure_image
from slurmwright.rehearse.planned import rehearse_plan
from slurmwright.rehearse.prefix import installed_slurm
from slurmwright.rehearse.processes import rehearse as rehearse_processes
from slurmwright.rehearse.roots import cache_folder, ensure_root, slurm_version
from slurmwright.rehearse.values import Rehearsal
from slurmwright.render import render
from slurmwright.report.console import print_result
from slurmwright.report.rehearsal_view import draw_rehearsal
from slurmwright.topology.host_maps import load_maps


@click.command("rehearse")
@click.option(
    "-i", "--inventory", type=click.Path(path_type=Path), required=True, help="Folder of cluster.yaml."
)
@click.option(
    "--bundle", type=click.Path(path_type=Path), help="Rehearse this rendered, perhaps edited, bundle."
)
@click.option(
    "--plan",
    "plan_file",
    type=click.Path(path_type=Path),
    help="Run the old side of this plan with jobs on it and carry out its steps.",
)
@click.option("--release", help="Render and rehearse for this Slurm release instead of the inventory's.")
@click.option("--slurm-prefix", type=click.Path(path_type=Path), help="Use the Slurm installed here.")
@click.option(
    "--engine", type=click.Choice(["processes", "machines"]), default="processes", show_default=True
)
@click.option(
    "--nodes",
    "count",
    type=click.IntRange(1, 16),
    default=2,
    show_default=True,
    help="With engine machines: compute guests of each node type.",
)
@click.option("--keep", is_flag=True, help="Leave it running and print how to enter it.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def rehearse(
    inventory: Path,
    bundle: Path | None,
    plan_file: Path | None,
    release: str | None,
    slurm_prefix: Path | None,
    engine: str,
    count: int,
    keep: bool,
    form: str,
) -> None:
    """Run the rendered files in a real Slurm on this machine, one slurmd per node, with stand-in GPUs.

    Engine processes starts the daemons of every node side by side and asks what the scheduler will do. Engine
    machines boots virtual machines and brings them into service with the real playbooks.

    Exit code 0: no scenario failed (what could not be tried is shown as not checked); 1: one failed; 2: the
    rehearsal itself could not run.
    """
    if plan_file and (bundle or release or keep or engine == ENGINE):
        raise click.UsageError("--plan goes with engine processes, without --bundle, --release and --keep")
    planned = read_plan(plan_file) if plan_file else None
    wanted = (
        Release.parse(release or (planned.new.release if planned else "")) if release or planned else None
    )
    cluster = load_cluster(inventory, release=wanted)
    facts = load_facts(inventory)
    check_facts(cluster, facts, inventory)
    files, edited = read_bundle(bundle) if bundle else (render(cluster, facts), ())
    if bundle and files.cluster != cluster.name:
        raise InputError.of(
            f"is the bundle of cluster '{files.cluster}', and {inventory} describes '{cluster.name}'; "
            "name the inventory that it was rendered from",
            str(bundle / INDEX),
        )
    hosts = [host for group in cluster.nodes for host in group.hosts]
    expected = expected_nodes(cluster, facts, load_maps(inventory, hosts, facts))
    series = (wanted or Release.parse(files.release)).series
    runner = Local()
    if engine == ENGINE:
        if slurm_prefix:
            raise click.UsageError("--slurm-prefix goes with --engine processes; guests have Debian's Slurm")
        image = ensure_image(series, cache_folder(), runner, lambda line: click.echo(line, err=True))
        with (
            _progress() as bar,
            site(inventory, cluster, facts, expected, files, image, _shown_by(bar), count) as guests,
        ):
            _tell(rehearse_machines(guests, edited, keep), form)
    if slurm_prefix:
        root, version = installed_slurm(slurm_prefix, runner)
    else:
        folder = ensure_root(series, cache_folder(), runner, lambda line: click.echo(line, err=True))
        root, version = SlurmRoot(folder), slurm_version(folder)
    if planned:
        with _progress() as bar:
            result = rehearse_plan(planned, expected, root, version, _shown_by(bar))
        _tell(result, form)
    with _progress() as bar:
        result = rehearse_processes(
            files,
            edited,
            expected,
            root,
            version,
            _shown_by(bar),
            keep,
            units=expected_units(cluster),
        )
    _tell(result, form)


def _tell(result: Rehearsal, form: str) -> NoReturn:
    if form == "json":
        click.echo(json.dumps(result.as_json(), indent=2))
    else:
        print_result(draw_rehearsal(result.as_json()))
    sys.exit(0 if result.passed else 1)


def _shown_by(bar: Progress) -> Callable[[str, int, int], None]:
    task = bar.add_task("starting", total=1)
    return lambda what, done, total: bar.update(task, description=what, completed=done, total=max(total, 1))


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
