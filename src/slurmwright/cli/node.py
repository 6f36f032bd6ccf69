"""`slurmwright node`: edits of cluster.yaml with their plan, and nodes out of and into service."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from slurmwright.apply.nodes import Holding, Job, NodeControl, admit, told, wait_until_empty
from slurmwright.apply.tools import Limits
from slurmwright.cli.live import Former, say_unread
from slurmwright.cli.node_edit import Wish, former_of_edit, new_bundle, read_text, write
from slurmwright.cli.plan import render_inventory
from slurmwright.cli.reach import hosts_of
from slurmwright.cli.verified import verifier
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.hosts import expand, fold
from slurmwright.model.cluster import Cluster
from slurmwright.model.edit import Edited, add, change, remove, replace
from slurmwright.model.load import load_cluster
from slurmwright.plan import Plan, compare, plan_json
from slurmwright.report.console import print_result
from slurmwright.report.plan_view import draw_drift, draw_plan

_UNFINISHED = 3
#: States of nodes that run jobs or could; slurmctld refuses to resume them.
_SERVING = ("idle", "alloc", "mix", "resv", "reserved", "comp", "plan")
_REASON = "slurmwright node remove"
Command = Callable[..., Any]


@click.group("node")
def node() -> None:
    """Add, remove, replace and change nodes in cluster.yaml, and take nodes out of and into service.

    An edit keeps comments and layout, and is written only where the new file loads and renders. The plan of
    the change is shown as `slurmwright plan` shows it.
    """


@dataclass(frozen=True)
class Asked:
    """What the options of an edit say."""

    inventory: Path
    dry_run: bool
    apply: bool
    yes: bool
    live: bool | None
    form: str


def _inventory(command: Command) -> Command:
    return click.option(
        "-i",
        "--inventory",
        type=click.Path(path_type=Path),
        required=True,
        help="Folder of cluster.yaml, or the file.",
    )(command)


def _options(command: Command) -> Command:
    for option in (
        click.option(
            "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True
        ),
        click.option(
            "--live/--no-live",
            default=None,
            help="Hold the plan against what the hosts hold.  [default: where a controller answers]",
        ),
        click.option("--yes", is_flag=True, help="With --apply: do not ask."),
        click.option("--apply", is_flag=True, help="Carry the plan out when the file is written."),
        click.option("--dry-run", is_flag=True, help="Show the plan, write nothing."),
    ):
        command = option(command)
    return _inventory(command)


@node.command("add")
@click.argument("hosts")
@click.option("--like", required=True, metavar="HOST", help="A node that they are like.")
@click.option("--address", default="", help="Their addresses as a range.  [default: as the group's go on]")
@_options
def add_(hosts: str, like: str, address: str, **words: Any) -> None:
    """Add HOSTS, such as 'gpu[065-072]', to the group, partitions and topology unit of another node."""
    names, where = expand(hosts), expand(address) if address else ()
    asked = Asked(**words)
    _edit(asked, lambda text, file: add(text, file, names, like, where))


@node.command("remove")
@click.argument("hosts")
@click.option("--drain", is_flag=True, help="Drain nodes on which jobs run, and wait.")
@click.option(
    "--timeout", type=click.FloatRange(0), default=86400, show_default=True, help="Seconds to wait."
)
@click.option("--offline", is_flag=True, help="Do not ask slurmctld whether jobs run there.")
@_options
def remove_(hosts: str, drain: bool, timeout: float, offline: bool, **words: Any) -> None:
    """Take HOSTS out of cluster.yaml. Refused while jobs run there, unless told to --drain and wait."""
    names = expand(hosts)
    _edit(
        Asked(**words),
        lambda text, file: remove(text, file, names),
        None if offline else lambda asked, cluster: _emptied(asked, cluster, names, drain, timeout),
    )


@node.command("replace")
@click.argument("old")
@click.argument("new")
@click.option("--address", default="", help="The address of NEW.  [default: that of OLD]")
@click.option("--drain", is_flag=True, help="Drain OLD where jobs run, and wait.")
@click.option(
    "--timeout", type=click.FloatRange(0), default=86400, show_default=True, help="Seconds to wait."
)
@click.option("--offline", is_flag=True, help="Do not ask slurmctld whether jobs run there.")
@_options
def replace_(
    old: str, new: str, address: str, drain: bool, timeout: float, offline: bool, **words: Any
) -> None:
    """Put NEW in the place of OLD: group, rack, partitions."""
    _edit(
        Asked(**words),
        lambda text, file: replace(text, file, _one(old), _one(new), address),
        None if offline else lambda asked, cluster: _emptied(asked, cluster, (old,), drain, timeout),
    )


@node.command("set")
@click.argument("hosts")
@click.argument("values", metavar="KEY=VALUE...", nargs=-1, required=True)
@_options
def set_(hosts: str, values: tuple[str, ...], **words: Any) -> None:
    """Change what cluster.yaml says of HOSTS: weight=10, features=big,fast, real_memory_mb=2000000,
    gpus_missing=5, options.CoreSpecCount=2. An empty VALUE takes the word out.

    Words of single hosts become exceptions; for others a part of a group becomes a group of its own.
    """
    pairs = [text.partition("=") for text in values]
    for key, sign, _ in pairs:
        if not (key and sign):
            raise InputError.of(f"'{key}' has no value; expected KEY=VALUE, such as weight=10")
    wanted = {key: value for key, _, value in pairs}
    _edit(Asked(**words), lambda text, file: change(text, file, expand(hosts), wanted))


@node.command("drain")
@click.argument("hosts")
@click.option("--reason", required=True, help="Why, for the next admin.")
@click.option("--wait", is_flag=True, help="Wait until no job runs there.")
@click.option(
    "--timeout", type=click.FloatRange(0), default=86400, show_default=True, help="Seconds to wait."
)
@_inventory
def drain_(hosts: str, reason: str, wait: bool, timeout: float, inventory: Path) -> None:
    """Let no new job start on HOSTS; jobs that run there go on.

    Exit code 3: jobs still run when the time of --wait is up.
    """
    cluster = load_cluster(inventory)
    names = _known(cluster, hosts)
    control = _control(cluster)
    control.drain(names, reason)
    left = wait_until_empty(control, names, timeout, _say_jobs) if wait else control.jobs(names)
    click.echo(f"{fold(names)} drained: {reason}")
    for job in left:
        click.echo(f"job {job} goes on")
    sys.exit(_UNFINISHED if wait and left else 0)


@node.command("resume")
@click.argument("hosts")
@click.option("--reason", default="", help="Only nodes that were drained for this reason.")
@click.option("--verify", "verified", is_flag=True, help="Verify them first, in a reservation of their own.")
@_inventory
def resume_(hosts: str, reason: str, verified: bool, inventory: Path) -> None:
    """Give HOSTS back to jobs; with --verify only those that pass, the others stay drained with the finding.

    Exit code 1: a node stays drained.
    """
    cluster = load_cluster(inventory)
    control = _control(cluster)
    states = control.states()
    names = [name for name in _known(cluster, hosts) if not reason or states.get(name, ("", ""))[1] == reason]
    if not names:
        raise SlurmwrightError(f"no node of {hosts} is drained for '{reason}'; nothing was changed")
    serving = [name for name in names if states.get(name, ("", ""))[0].startswith(_SERVING)]
    if serving and not verified:
        click.echo(f"{fold(serving)} in service already")
        names = [name for name in names if name not in serving]
    failed = _admitted(inventory, cluster, control, names) if verified else {}
    if not verified and names:
        control.resume(names)
    good = [name for name in names if name not in failed]
    if good:
        click.echo(f"{fold(good)} resumed")
    for line in told(failed):
        click.echo(line)
    sys.exit(1 if failed else 0)


def _edit(
    asked: Asked,
    edit: Callable[[str, str], Edited],
    before: Callable[[Asked, Cluster], None] | None = None,
) -> None:
    """One edit from the text to the file and its plan; nothing is written where any of it is refused."""
    if asked.apply and asked.dry_run:
        raise click.UsageError("--apply and --dry-run exclude each other")
    if asked.apply and not (asked.yes or sys.stdin.isatty()):
        raise InputError.of("stdin is no terminal, nobody can be asked; nothing was changed: give --yes")
    file, text = read_text(asked.inventory)
    wish = Wish(file, text, edit(text, str(file)))
    new = new_bundle(wish)
    former = former_of_edit(wish, new, asked.live)
    if before is not None:
        before(asked, load_cluster(file))
    found = compare(former.bundle, new)
    if not asked.dry_run:
        write(wish)
    _show(asked, wish, former, found)
    if asked.apply:
        sys.exit(_apply(asked, wish, found))
    sys.exit(1 if found.changes else 0)


def _show(asked: Asked, wish: Wish, former: Former, found: Plan) -> None:
    for note in wish.edited.notes:
        click.echo(f"note: {note}", err=True)
    if asked.form == "text":
        print_result(draw_drift(former.drift))
    # Carrying out shows the plan, or its outcome as JSON, itself.
    if asked.form == "json" and not asked.apply:
        click.echo(json.dumps(plan_json(found), indent=2))
    elif not asked.apply:
        print_result(draw_plan(found))
    say_unread(former)
    if asked.dry_run:
        click.echo("nothing was written", err=True)
    else:
        click.echo(f"{wish.file} is written", err=True)


def _apply(asked: Asked, wish: Wish, found: Plan) -> int:
    """Carry the plan out as `slurmwright apply PLAN.json` does, and let new nodes work only when they were
    verified."""
    from slurmwright.cli import apply_plan

    cluster, added = wish.edited.cluster, wish.edited.added
    control = _control(cluster)
    hosts = Holding(hosts_of(cluster), control, added)
    carried = apply_plan.Asked(
        wish.file, False, Limits(), False, asked.form, lambda count: _agreed(asked, count)
    )
    code = apply_plan.carry_out_plan(carried, found, lambda: render_inventory(wish.file), hosts)
    if code or not added:
        return code
    failed = _admitted(wish.file, cluster, control, list(added))
    good = [name for name in added if name not in failed]
    for line in (*([f"{fold(good)} verified and in service"] if good else []), *told(failed)):
        click.echo(line, err=asked.form == "json")
    return 1 if failed else 0


def _agreed(asked: Asked, count: int) -> None:
    if not asked.yes and not click.confirm(f"Go on with {count} host{'s' if count != 1 else ''}?", err=True):
        raise SlurmwrightError("not confirmed; cluster.yaml is written, and nothing was pushed")


def _emptied(asked: Asked, cluster: Cluster, names: tuple[str, ...], drain: bool, timeout: float) -> None:
    """Raise SlurmwrightError where jobs run on nodes that go."""
    control = _control(cluster)
    jobs = control.jobs(names)
    if jobs and not drain:
        shown = "; ".join(map(str, jobs[:5])) + (f"; and {len(jobs) - 5} more" if len(jobs) > 5 else "")
        raise SlurmwrightError(f"jobs run there: {shown}; wait for them, or drain and wait with --drain")
    if not drain or asked.dry_run:
        return
    there = control.states()
    known = [name for name in names if name in there]
    if known:
        control.drain(known, _REASON)
    left = wait_until_empty(control, names, timeout, _say_jobs)
    if left:
        still = f"{len(left)} jobs still run; the nodes stay drained, cluster.yaml is as it was"
        click.echo(f"slurmwright: {still}", err=True)
        sys.exit(_UNFINISHED)


def _admitted(inventory: Path, cluster: Cluster, control: NodeControl, names: list[str]) -> dict[str, str]:
    user, verify = verifier(inventory, cluster, tuple(names))
    return admit(control, names, user, verify)


def _say_jobs(jobs: tuple[Job, ...]) -> None:
    click.echo(f"waiting for {len(jobs)} jobs: {', '.join(job.number for job in jobs[:10])}", err=True)


def _control(cluster: Cluster) -> NodeControl:
    names = [server.host for server in cluster.control.controllers]
    return NodeControl(hosts_of(cluster), names, cluster.slurm.release)


def _known(cluster: Cluster, text: str) -> tuple[str, ...]:
    from slurmwright.model.edit.words import by_group

    names = expand(text)
    by_group(cluster, names)
    return names


def _one(text: str) -> str:
    names = expand(text)
    if len(names) != 1:
        raise InputError.of(f"'{text}' names {len(names)} hosts; replace takes one for one")
    return names[0]
