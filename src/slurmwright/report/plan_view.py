"""Turns a plan into what a person reads: a diff with effects, then steps, then one line to quote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from slurmwright.conf.meaning.said import folded
from slurmwright.plan.drift import Drift, told
from slurmwright.plan.values import Change, Plan

_SIGNS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}


def draw_plan(plan: Plan) -> RenderableType:
    """The changes file by file, the steps with their numbers, and the summary as the last line."""
    lines: list[Text] = []
    for file, changes in _by_file(plan.changes).items():
        lines.append(Text(file, style="bold"))
        for change in changes:
            lines += _change(change)
    if plan.same_meaning:
        lines.append(
            Text("written otherwise, meaning the same: " + ", ".join(plan.same_meaning), style="dim")
        )
    if plan.steps:
        lines += [Text(""), Text("steps", style="bold")]
        for number, step in enumerate(plan.steps, start=1):
            hosts = f" [{step.hosts}]" if step.hosts else ""
            files = f" ({', '.join(step.files)})" if step.files else ""
            lines.append(Text(f"{number:>4}. {step.action}{hosts}: {step.text}{files}"))
        lines += [Text(""), Text(f"hosts contacted: {_some(plan.hosts_contacted)}")]
    lines.append(Text(plan.summary, style="bold"))
    return Group(*lines)


def draw_drift(found: Sequence[Drift]) -> RenderableType:
    """Files that somebody edited on hosts, by line and by meaning."""
    lines: list[Text] = []
    if found:
        lines.append(Text("edited on hosts, not pushed from here", style="bold red"))
    for drift in found:
        lines.append(Text(f"  {told(drift)}", style="red"))
        lines += [Text(f"      {line}", style="dim") for line in drift.lines]
        for subject, old, new in drift.meaning:
            lines.append(Text(f"      {subject}: {old or 'not said'} → {new or 'not said'}"))
        if drift.slurms and not drift.meaning:
            lines.append(Text("      no other meaning for Slurm"))
    if found:
        told_next = "say it in cluster.yaml to keep it; the steps below put the rendered files in its place"
        lines += [Text(f"  {told_next}"), Text("")]
    return Group(*lines)


def _by_file(changes: Sequence[Change]) -> Mapping[str, Sequence[Change]]:
    found: dict[str, list[Change]] = {}
    for change in changes:
        found.setdefault(change.file, []).append(change)
    return found


def _change(change: Change) -> Iterator[Text]:
    sign, colour = _SIGNS[change.kind]
    yield Text(f"  {sign} {change.subject}{_sides(change)}", style=colour)
    effects = change.effects
    said = [
        f"{name} {level}{' on every node' if name == 'slurmd' and effects.everywhere else ''}"
        for name, level in (
            ("slurmdbd", effects.slurmdbd),
            ("slurmctld", effects.slurmctld),
            ("slurmd", effects.slurmd),
        )
        if level != "none"
    ]
    said += [f"{unit} restart" for unit in effects.units] + (["reboot"] if effects.reboot else [])
    drain = {
        "": "",
        "partition": "drain the partition first",
        "nodes": "drain the nodes first",
        "all": "drain every node first",
    }[effects.drain]
    yield Text(f"      effect: {', '.join(said) or 'nothing reads it anew'}{f'; {drain}' if drain else ''}")
    for label, text in (("running jobs", change.jobs), ("why", change.why), ("source", change.source)):
        if text:
            yield Text(f"      {label}: {text}", style="dim" if label == "source" else "")


def _sides(change: Change) -> str:
    if change.kind == "changed":
        return f": {change.old} → {change.new}"
    return f": {change.new if change.kind == 'added' else change.old}"


def _some(hosts: Sequence[str]) -> str:
    return f"{folded(hosts)} ({len(hosts)})" if hosts else "none"
