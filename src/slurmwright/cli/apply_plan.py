"""`slurmwright apply PLAN.json`: carry out that plan, go on with one that was broken off, or go back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import click

from slurmwright.apply.daemons import Systemd
from slurmwright.apply.execute import Ended
from slurmwright.apply.hosts import Hosts
from slurmwright.apply.journal import Book
from slurmwright.apply.lock import FOLDER, folder_of, locked
from slurmwright.apply.planned import Next, next_of, run
from slurmwright.apply.tools import Limits, Work
from slurmwright.cli.reach import hosts_of
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import fold
from slurmwright.model.load import load_cluster
from slurmwright.plan import Plan, compare, digest, read_plan
from slurmwright.plan.secrets import HIDDEN, HIDDEN_NEW
from slurmwright.report.console import print_result
from slurmwright.report.plan_view import draw_plan

FORMAT = "slurmwright/applied/1"


@dataclass(frozen=True)
class Asked:
    """What the options say; `ask` gets the number of hosts, and raises where nobody agrees."""

    inventory: Path
    rollback: bool
    limits: Limits
    by_hand: bool
    form: str
    ask: Callable[[int], None]


def unfinished(inventory: Path) -> bool:
    """Was a plan begun here that is not finished?"""
    folder = (inventory if inventory.is_dir() else inventory.parent) / FOLDER
    kept = Book(folder).read()
    return kept is not None and not kept[1].finished


def apply_plan(asked: Asked, file: Path | None, rendered: Callable[[], Bundle]) -> int:
    """The exit code; `rendered` gives the bundle of cluster.yaml as it is now."""
    plan = read_plan(file) if file is not None else None
    return carry_out_plan(asked, plan, rendered)


def carry_out_plan(
    asked: Asked, plan: Plan | None, rendered: Callable[[], Bundle], hosts: Hosts | None = None
) -> int:
    """As `apply_plan`, with a plan that is at hand."""
    cluster = load_cluster(asked.inventory)
    folder = folder_of(asked.inventory)
    with locked(folder) as word:
        if word:
            click.echo(word, err=True)
        book = Book(folder)
        following = next_of(book, plan, asked.rollback)
        if following is None:
            raise SlurmwrightError(
                "there is no plan to carry out; make one: slurmwright plan -i DIR -o PLAN.json"
            )
        _fits(following, cluster.name, rendered)
        _show(following, asked)
        if not following.plan.changes and not following.plan.same_meaning:
            return 0
        this = following.plan
        reached = hosts or hosts_of(cluster)
        work = Work(
            this,
            following.journal,
            reached,
            Systemd(reached),
            save=lambda journal: book.write(this, journal),
            say=lambda text: click.echo(text, err=True),
            limits=asked.limits,
            by_hand=asked.by_hand,
        )
        ended = run(work, following.begins)
        _tell(ended, this, asked)
        if ended.exit_code == 0:
            _keep(asked.inventory, this, rendered)
        return ended.exit_code


def _fits(following: Next, cluster: str, rendered: Callable[[], Bundle]) -> None:
    """Raise SlurmwrightError for a plan of another cluster, or of a cluster.yaml that says otherwise now."""
    plan = following.plan
    if plan.new.cluster != cluster:
        raise SlurmwrightError(f"the plan is for cluster {plan.new.cluster}, and this one is {cluster}")
    if following.begins and digest(compare(plan.old, rendered()).new) != digest(plan.new):
        raise SlurmwrightError(
            "the plan is stale: cluster.yaml renders other files now; nothing was changed. "
            "Make it again: slurmwright plan -i DIR -o PLAN.json"
        )


def _show(following: Next, asked: Asked) -> None:
    if following.word:
        click.echo(following.word, err=True)
    if asked.form == "text":
        print_result(draw_plan(following.plan))
    if following.begins and following.plan.steps:
        asked.ask(len(following.plan.hosts_contacted))


def _tell(ended: Ended, plan: Plan, asked: Asked) -> None:
    if asked.form == "json":
        click.echo(json.dumps(outcome(ended, plan), indent=2))
        return
    verb = "returned to the former bundle" if ended.rollback else "done"
    if ended.exit_code == 0:
        click.echo(f"{verb}: {plan.summary}")
        return
    for line in ended.why:
        click.echo(f"stopped: {line}")
    for name, steps in (("done", ended.done), ("not done", ended.not_done)):
        click.echo(f"{name}:")
        for step in steps:
            what = f"{step.action} {step.daemon}".strip()
            click.echo(f"  {what} {step.hosts}".rstrip())
    click.echo("mend what is named above and run the same command again, or return with --rollback")


def outcome(ended: Ended, plan: Plan) -> dict[str, object]:
    """The document."""
    return {
        "format": FORMAT,
        "cluster": plan.new.cluster,
        "release": plan.new.release,
        "rollback": ended.rollback,
        "from": {"bundle_sha256": digest(plan.old)},
        "to": {"bundle_sha256": digest(plan.new)},
        "done": [step.as_json() for step in ended.done],
        "not_done": [step.as_json() for step in ended.not_done],
        "hosts_failed": fold(ended.hosts_failed) if ended.hosts_failed else "",
        "why": list(ended.why),
        "exit_code": ended.exit_code,
    }


def _keep(inventory: Path, plan: Plan, rendered: Callable[[], Bundle]) -> None:
    """`rendered` beside cluster.yaml is what was pushed last; one that nobody rendered is not made."""
    folder = (inventory if inventory.is_dir() else inventory.parent) / "rendered"
    if not folder.exists():
        return
    try:
        now = rendered()
    except SlurmwrightError as error:
        click.echo(f"{folder} was left as it is: {error}", err=True)
        return
    if digest(compare(plan.old, now).new) == digest(plan.new):
        now.write(folder)
        return
    if any(word in file.text for file in plan.new.files for word in (HIDDEN, HIDDEN_NEW)):
        click.echo(f"{folder} was left as it is: a plan holds no passwords to write there", err=True)
        return
    files = tuple(replace(file, source=file.path.lstrip("/")) for file in plan.new.files)
    click.echo(f"{folder} holds the former bundle again, and cluster.yaml still says the new one", err=True)
    replace(plan.new, files=files).write(folder)
