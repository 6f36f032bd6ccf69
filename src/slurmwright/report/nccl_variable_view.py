"""A variable of NCCL to what a person and a program read about it, and why we write it where we do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slurmwright.catalogue.nccl_variables import Variable, written_reasons

FORMAT = "slurmwright/nccl-variable/1"
_LABELS = {
    "first": "read from",
    "last": "last read by",
    "values": "values",
    "default": "default",
    "production": "permanent",
    "fabric": "network",
    "notes": "what it does",
    "conflicts": "beware",
    "why": "why we write it",
}


def variable_json(variable: Variable) -> dict[str, Any]:
    """Everything that is known; `why` is null for a variable that we never write."""
    return {
        "format": FORMAT,
        "name": variable.name,
        "first": variable.first,
        "last": variable.last,
        "values": variable.values or None,
        "default": variable.default_text or variable.default,
        "production": variable.production or None,
        "fabric": list(variable.fabric),
        "notes": variable.notes or None,
        "conflicts": list(variable.conflicts),
        "why": written_reasons().get(variable.name),
    }


def draw_variable(document: Mapping[str, Any]) -> RenderableType:
    """The document as a list of what is known."""
    table = Table.grid(padding=(0, 2))
    for key, label in _LABELS.items():
        value = document[key]
        if value:
            text = "; ".join(value) if isinstance(value, list) else str(value)
            table.add_row(Text(label, style="dim"), Text(text))
    return Group(Text(document["name"], style="bold"), table)
