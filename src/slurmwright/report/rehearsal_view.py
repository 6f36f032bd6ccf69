"""Turns a rehearsal's JSON document into what a person reads: adaptations, verdicts, what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

#: How a verdict is shown; what could not be tried is null in the document.
_WORDS = {True: "[green]passed[/]", False: "[bold red]FAILED[/]", None: "[yellow]not checked[/]"}


def draw_rehearsal(document: Mapping[str, Any]) -> Group:
    """`slurmwright/rehearsal/1`: what was adapted, the table of verdicts, then what to do."""
    return Group(*_parts(document))


def _parts(document: Mapping[str, Any]) -> Iterator[RenderableType]:
    adapted = document["adapted"]
    yield Text(f"Changed for one machine ({len(adapted)}), everything else ran byte for byte:")
    for one in adapted:
        yield Text(f"  {_adaptation(one)}")
    yield Text()
    yield _verdicts(document["scenarios"])
    yield Text()
    nodes = document["nodes"]
    yield Text(
        f"Slurm {document['slurm_version']}, engine {document['engine']}: {nodes['registered']} of "
        f"{nodes['total']} nodes registered, {nodes['idle']} idle."
    )
    if document.get("phases"):
        phases = (f"{one['name']} {one['seconds']:.0f} s" for one in document["phases"])
        yield Text(f"Took: {', '.join(phases)}.")
    for finding in document["findings"]:
        yield Text(f"next, {finding['name']}: {finding['fix']}")
    if document.get("enter"):
        lines = document["enter"].splitlines()
        text = lines[0] if len(lines) == 1 else "\n".join(["", *lines])
        yield Text(f"Still running. Enter it: {text}", no_wrap=True, overflow="ignore")


def _adaptation(one: Mapping[str, Any]) -> str:
    place = f"{one['file']}:{one['line']}" if one["line"] else str(one["file"])
    if not one["key"]:
        return f"{place} ({one['reason']})"
    return f"{place} {one['key']}: {one['old'] or 'not set'} -> {one['new'] or 'not set'} ({one['reason']})"


def _verdicts(scenarios: list[Mapping[str, Any]]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("scenario", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("evidence", overflow="fold")
    for one in scenarios:
        verdict = _WORDS[one["passed"]]
        table.add_row(one["name"], verdict, escape("\n".join(one["evidence"])))
    return table
