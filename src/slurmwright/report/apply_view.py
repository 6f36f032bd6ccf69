"""Turns what a run will do, and what became of it, into what a person reads: hosts folded, worst last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from slurmwright.apply.inventory import Files
from slurmwright.apply.outcome import Outcome, alike, diffs_alike
from slurmwright.apply.steps import Step
from slurmwright.core.hosts import expand, fold

_COLOURS = {"ok": "green", "changed": "yellow", "waiting": "dim"}


def draw_plan(steps: tuple[Step, ...], files: Files, hosts: tuple[str, ...], check: bool) -> Group:
    """The plays in order, then the files and who gets them."""
    verb = "To be looked at, nothing is changed" if check else "To be changed where they differ"
    names = _pairs("play", "hosts", "roles")
    for step in steps:
        names.add_row(step.name, fold(step.hosts), ", ".join(step.roles) or "looks only")
    listed = _pairs("file", "hosts", "owner", "mode")
    for path, who, owner, mode in _files(files, hosts):
        listed.add_row(path, who, owner, mode)
    title = Text(f"{verb}: {len(hosts)} host{'s' if len(hosts) != 1 else ''}, {fold(hosts)}")
    source = Text(f"Files from {files.folder}:")
    return Group(title, Text(), names, Text(), source, Text(), listed, Text())


def _files(files: Files, hosts: tuple[str, ...]) -> Iterator[tuple[str, str, str, str]]:
    wanted = set(hosts)
    for file in files.bundle.files if files.bundle else ():
        who = [host for host in expand(file.hosts) if host in wanted]
        if who:
            yield file.path, fold(who), f"{file.owner}:{file.group}", file.mode


def draw_outcome(outcome: Outcome) -> Group:
    """The table of results, then the lists of hosts that are done and not done."""
    return Group(*_parts(outcome))


def _parts(outcome: Outcome) -> Iterator[RenderableType]:
    for text, hosts in diffs_alike(outcome).items():
        yield Text(f"{fold(hosts)}:")
        yield Text(text.rstrip("\n"), no_wrap=True, overflow="ignore")
        yield Text()
    table = _pairs("hosts", "result", "changed", "where it ended", "why")
    for hosts, one in alike(outcome):
        colour = _COLOURS.get(one.state, "bold red")
        state = f"[{colour}]{_state(one.state, outcome)}[/]"
        table.add_row(fold(hosts), state, str(one.changed), escape(one.task), escape(one.message))
    yield table
    yield Text()
    yield Text(_verdict(outcome))
    if outcome.not_done:
        good, bad = ("without a fault", "with a fault") if outcome.check else ("done", "not done")
        yield Text(f"{good}: {fold(outcome.done) or 'none'}")
        yield Text(f"{bad}: {fold(outcome.not_done)}")


def _state(state: str, outcome: Outcome) -> str:
    if state == "changed" and outcome.check:
        return "would change"
    return {"waiting": "not started", "stopped": "stopped half-way" if outcome.changed else "stopped"}.get(
        state, state
    )


def _verdict(outcome: Outcome) -> str:
    if outcome.check:
        faults = f"{len(outcome.not_done)} of {len(outcome.hosts)} hosts with a fault"
        return f"nothing was changed; would be: changed={outcome.changed}; {faults}"
    said = f"changed={outcome.changed}"
    if outcome.exit_code == 0:
        return f"{said}, all {len(outcome.hosts)} hosts are done"
    if outcome.exit_code == 2:
        return f"{said}, nothing was done: mend what is named above and run it again"
    reason = "interrupted" if outcome.interrupted else "unfinished"
    return f"{said}, {reason}: mend what is named above and run the same command again"


def outcome_json(
    outcome: Outcome, cluster: str, release: str, playbook: str, steps: tuple[Step, ...]
) -> Mapping[str, Any]:
    """The document of --format json."""
    return {
        "format": "slurmwright/apply/1",
        "cluster": cluster,
        "release": release,
        "playbook": playbook,
        "check": outcome.check,
        "complete": outcome.complete,
        "interrupted": outcome.interrupted,
        "changed": outcome.changed,
        "exit_code": outcome.exit_code,
        "steps": [step.as_json() for step in steps],
        "hosts": [host.as_json() for host in outcome.hosts],
        "done": list(outcome.done),
        "not_done": list(outcome.not_done),
        "diffs": [{"hosts": list(hosts), "text": text} for text, hosts in diffs_alike(outcome).items()],
        "notes": list(outcome.notes),
    }


def _pairs(*columns: str) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
