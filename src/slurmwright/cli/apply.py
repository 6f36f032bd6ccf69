"""`slurmwright apply`: bring hosts to what cluster.yaml and its rendered files say, with Ansible."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click
from rich.console import Console

from slurmwright.apply.command import Request, program
from slurmwright.apply.inventory import Files, inventory
from slurmwright.apply.load import load_files
from slurmwright.apply.run import apply as run_playbook
from slurmwright.apply.run import target_hosts
from slurmwright.apply.steps import Step, playbook_file, steps
from slurmwright.apply.tools import Limits
from slurmwright.cli.apply_plan import Asked, apply_plan, unfinished
from slurmwright.cli.plan import render_inventory
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.run import Local
from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import cluster_file, load_cluster
from slurmwright.report.apply_progress import ApplyProgress
from slurmwright.report.apply_view import draw_outcome, draw_plan, outcome_json
from slurmwright.report.console import print_result


@click.command("apply")
@click.option(
    "-i",
    "--inventory",
    "where",
    type=click.Path(path_type=Path),
    required=True,
    help="Folder of cluster.yaml, or the file.",
)
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    help="Push this rendered, perhaps edited, bundle. [default: rendered, beside cluster.yaml]",
)
@click.option(
    "--playbook",
    type=click.Choice(["site", "push", "verify"]),
    default="site",
    show_default=True,
    help="site bootstraps and brings up to date; push places files only; verify only looks.",
)
@click.option("--limit", default="", help="Only these hosts, as Ansible takes them: gpu001,slurm_controller.")
@click.option("--check", is_flag=True, help="Change nothing, say what would change.")
@click.option("--diff", is_flag=True, help="Show how files change.")
@click.option("--rollback", is_flag=True, help="Return to the bundle before the plan carried out last.")
@click.option(
    "--max-down",
    type=click.IntRange(1),
    default=Limits.max_down,
    show_default=True,
    help="With a plan: so many slurmd restart at a time.",
)
@click.option(
    "--wait",
    type=click.FloatRange(0),
    help="With a plan: minutes to wait for jobs on nodes that it drains. [default: as long as they run]",
)
@click.option("--done-by-hand", is_flag=True, help="With a plan: what it asks of a person was done.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.argument("extra", metavar="[PLAN.json] [-- ANSIBLE_OPTIONS]", nargs=-1, type=click.UNPROCESSED)
def apply(
    where: Path,
    bundle: Path | None,
    playbook: str,
    limit: str,
    check: bool,
    diff: bool,
    rollback: bool,
    max_down: int,
    wait: float | None,
    done_by_hand: bool,
    yes: bool,
    form: str,
    extra: tuple[str, ...],
) -> None:
    """Bring every host to what cluster.yaml and its rendered files say; run again, it changes nothing.

    With PLAN.json, which `slurmwright plan -o` wrote, exactly its steps are carried out, over SSH and without
    Ansible; one that was broken off goes on with the next run, with or without its file.

    Options after -- go to ansible-playbook, for example: -- --ask-become-pass

    Exit code 0: all hosts are done; 1: --check found something to do; 2: nothing was done; 3: unfinished on
    some host, and it says which.
    """
    where = cluster_file(where)
    plan_file = Path(extra[0]) if extra and not extra[0].startswith("-") else None
    if plan_file or rollback or unfinished(where):
        limits = Limits(wait * 60 if wait is not None else None, max_down=max_down)
        asked = Asked(where, rollback, limits, done_by_hand, form, lambda hosts: None if yes else _ask(hosts))
        _refuse_mixed(bundle, limit, check, diff, extra[1:] if plan_file else extra)
        sys.exit(apply_plan(asked, plan_file, lambda: render_inventory(where)))
    program("ansible-playbook")
    cluster, facts = load_cluster(where), load_facts(where)
    check_facts(cluster, facts, where)
    files = load_files(where, cluster, facts, bundle)
    if files.problem:
        raise SlurmwrightError(files.problem)
    runner, environ = Local(), dict(os.environ)
    request = Request(where, playbook_file(playbook), bundle, limit, check, diff, extra)
    hosts = target_hosts(request, runner, environ)
    planned = steps(request.playbook, inventory(cluster, facts, files), hosts)
    _show(planned, files, hosts, request.looks, form)
    if not (request.looks or yes):
        _ask(len(hosts))
    with ApplyProgress(Console(stderr=True)) as progress:
        result = run_playbook(request, hosts, runner, environ, progress.watch, progress.note, planned)
    if form == "json":
        release = str(cluster.slurm.release)
        click.echo(json.dumps(outcome_json(result, cluster.name, release, playbook, planned), indent=2))
    else:
        print_result(draw_outcome(result))
    sys.exit(result.exit_code)


def _refuse_mixed(bundle: Path | None, limit: str, check: bool, diff: bool, extra: tuple[str, ...]) -> None:
    """A plan says itself what goes where."""
    given = {"--bundle": bundle, "--limit": limit, "--check": check, "--diff": diff, "ANSIBLE_OPTIONS": extra}
    wrong = [name for name, value in given.items() if value]
    if wrong:
        raise InputError.of(
            f"{', '.join(wrong)} cannot be given where a plan is carried out: it says what goes where. "
            "If you named no plan, one was begun here and is not finished: run this without them to go on"
        )


def _show(planned: tuple[Step, ...], files: Files, hosts: tuple[str, ...], looks: bool, form: str) -> None:
    """A program that reads JSON finds the plan in the document."""
    if form == "text":
        print_result(draw_plan(planned, files, hosts, looks))


def _ask(count: int) -> None:
    if not sys.stdin.isatty():
        raise InputError.of("stdin is no terminal, nobody can be asked; nothing was changed: give --yes")
    if not click.confirm(f"Go on with {count} host{'s' if count != 1 else ''}?", err=True):
        raise SlurmwrightError("not confirmed; nothing was changed")
