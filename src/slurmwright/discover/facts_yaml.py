"""Turns facts into the text of facts/HOST.yaml: stable, one line for each device, made to be reviewed."""

from __future__ import annotations

from pathlib import Path

import yaml

from slurmwright.core.errors import InputError
from slurmwright.core.files import write_text
from slurmwright.model.facts import HostFacts, facts_file

_WIDEST = 400


def facts_yaml(facts: HostFacts) -> str:
    """What was not read stays out; no clock and no version of ours is in it."""
    data = facts.model_dump(mode="json", exclude_none=True)
    return yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=_WIDEST, allow_unicode=True)


def write_facts(inventory: Path, facts: HostFacts) -> bool:
    """Write the file of a host; False where it was the same already. A file of the other form is refused."""
    path = facts_file(inventory, facts.host)
    if path.suffix == ".json":
        raise InputError.of(
            "holds facts of this host already; remove it, discovery writes HOST.yaml", str(path)
        )
    text = facts_yaml(facts)
    if path.exists() and path.read_text() == text:
        return False
    write_text(path, text)
    return True
