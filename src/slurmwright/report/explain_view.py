"""Turns an explanation into its JSON document and into what a person reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slurmwright.catalogue.effects import Effect, rule_text
from slurmwright.catalogue.explain import Explanation

FORMAT = "slurmwright/explanation/1"


def explanation_json(entry: Explanation) -> dict[str, Any]:
    """One key: what it does, why we write what we write, since when, and what a change costs by release."""
    return {
        "format": FORMAT,
        "name": entry.name,
        "key": entry.key,
        "file": entry.file,
        "section": entry.section,
        "since": entry.since,
        "until": entry.option.until,
        "type": entry.option.type,
        "does": entry.does,
        "value": entry.value,
        "why": entry.why,
        "cost": {"note": entry.cost, "effects": [_effect(effect, entry.name) for effect in entry.effects]},
        "slurm_note": entry.option.note,
        "source": entry.source,
    }


def draw_explanation(document: Mapping[str, Any]) -> RenderableType:
    """The document as text, the cost of a change last."""
    rows = [
        ("does", document["does"]),
        ("we write", document["value"]),
        ("why", document["why"]),
        ("Slurm", document["slurm_note"]),
        ("since", document["since"] + (f", until {document['until']}" if document["until"] else "")),
        ("source", document["source"]),
    ]
    rows += [("to change", text) for text in (document["cost"]["note"],) if text]
    for effect in document["cost"]["effects"]:
        rows += _effect_rows(effect)
    grid = Table.grid(padding=(0, 2))
    for label, text in rows:
        if text:
            grid.add_row(Text(label, style="dim"), Text(text))
    return Group(Text(document["name"], style="bold"), grid)


def _effect(effect: Effect, name: str) -> dict[str, Any]:
    return {
        "id": effect.id,
        "what": effect.what,
        "words": list(effect.words_of(name)),
        "releases": [
            {"releases": rule.releases, "steps": rule_text(rule), **rule.model_dump(mode="json")}
            for rule in effect.rules
        ],
        "running_jobs": effect.running_jobs,
        "danger": effect.danger,
        "note": effect.note,
    }


def _effect_rows(effect: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [("to change", f"{effect['what']} ({effect['id']})")]
    for rule in effect["releases"]:
        words = [rule["steps"], rule["note"], rule["danger"] and f"danger: {rule['danger']}"]
        words += [rule["tested"] and f"tested {rule['tested']}", rule["certainty"]]
        rows.append(("", f"{rule['releases']}: " + "; ".join(word for word in words if word)))
    rows += [("", f"running jobs: {effect['running_jobs']}")] if effect["running_jobs"] else []
    rows += [("", text) for text in (effect["danger"], effect["note"]) if text]
    return rows
