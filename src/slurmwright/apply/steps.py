"""A playbook and its inventory to what an admin is shown before saying yes: plays, hosts, roles."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from slurmwright.apply.inventory import Inventory
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold
from slurmwright.core.resources import share

#: Condition of a role that cluster.yaml alone decides.
_SWITCH = re.compile(r"(\w+) \| bool\Z")


@dataclass(frozen=True)
class Step:
    """One play: what it is for, the hosts it has, and the roles it gives them (none where it only looks)."""

    name: str
    hosts: tuple[str, ...]
    roles: tuple[str, ...]

    def as_json(self) -> dict[str, object]:
        return {"name": self.name, "hosts": fold(self.hosts), "roles": list(self.roles)}


def playbook_file(name: str) -> Path:
    """`site`, `push` or `verify` to the playbook that travels with the package."""
    path = share("ansible") / f"{name}.yml"
    if not path.is_file():
        raise InputError.of("does not exist; install slurmwright again", str(path))
    return path


def steps(playbook: Path, inventory: Inventory, hosts: Collection[str]) -> tuple[Step, ...]:
    """The plays that have one of `hosts`, in order."""
    plays = yaml.safe_load(playbook.read_text(encoding="utf-8"))
    return tuple(step for play in plays if (step := _step(play, inventory, frozenset(hosts))).hosts)


def _step(play: Mapping[str, Any], inventory: Inventory, wanted: frozenset[str]) -> Step:
    members = next((group.hosts for group in inventory.groups if group.name == play["hosts"]), ())
    roles = tuple(_roles(play, inventory.groups[0].vars))
    return Step(play["name"], tuple(host for host in members if host in wanted), roles)


def _roles(play: Mapping[str, Any], common: Mapping[str, Any]) -> Iterator[str]:
    for row in play.get("roles", ()):
        switch = _SWITCH.match(str(row.get("when", "")))
        if switch is None or common.get(switch[1], True):
            yield row["role"]
