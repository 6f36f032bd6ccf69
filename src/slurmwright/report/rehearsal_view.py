"""Turns a rehearsal's JSON document into what a person reads: adaptations, verdicts, what to do next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def show_rehearsal(document: Mapping[str, Any], console: Console) -> None:
    """Print `slurmwright/rehearsal/1`: the table of verdicts last, since it is what counts."""
    _show_adapted(document["adapted"], console)
    console.print(_verdicts(document["scenarios"]))
    nodes = document["nodes"]
    console.print(
        f"Slurm {document['slurm_version']}, engine {document['engine']}: {nodes['registered']} of "
        f"{nodes['total']} nodes registered, {nodes['idle']} idle."
    )
    for finding in document["findings"]:
        console.print(f"[bold]{escape(finding['name'])}[/]: next: {escape(finding['fix'])}")
    if document.get("enter"):
        console.print(f"Still running. Enter it: {escape(document['enter'])}", soft_wrap=True)


def _show_adapted(adapted: list[Mapping[str, Any]], console: Console) -> None:
    console.print(f"Changed for one machine ({len(adapted)}), everything else ran byte for byte:")
    for one in adapted:
        place = f"{one['file']}:{one['line']}" if one["line"] else one["file"]
        change = ""
        if one["key"]:
            change = f" {one['key']}: {one['old'] or 'not set'} -> {one['new'] or 'not set'}"
        console.print(f"  {escape(place)}{escape(change)} ({escape(one['reason'])})", soft_wrap=True)


def _verdicts(scenarios: list[Mapping[str, Any]]) -> Table:
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("scenario", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("evidence", overflow="fold")
    for one in scenarios:
        verdict = "[green]passed[/]" if one["passed"] else "[bold red]FAILED[/]"
        table.add_row(one["name"], verdict, escape("\n".join(one["evidence"])))
    return table
