"""What a changed key costs in each release: which daemons reload or restart, and what is drained before.

Two worlds: in 22.05 and 23.02 `scontrol reconfigure` re-reads the files inside the running daemons, honours
part of them and kills slurmctld when the set of nodes changed; from 23.11 it starts new processes, and the
old ones stay when those fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cache
from types import MappingProxyType
from typing import Literal

from slurmwright.catalogue.lifetime import span_covers
from slurmwright.catalogue.options import find
from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.release import Release

Action = Literal[
    "reconfigure",
    "restart_ctld",
    "restart_slurmd",
    "restart_slurmd_all",
    "restart_dbd",
    "restart_clients",
    "stop_ctld",
    "distribute",
    "start_ctld",
    "stop_all",
    "reboot",
    "on_host",
]

#: The effect of a key that no row names.
OTHER = "other"


class Rule(Row):
    """What to do in a span of releases. `tested` names real daemons, `doc` the manual page that says so; with
    neither it was read from the source, `certainty` says how sure that is."""

    releases: str
    actions: tuple[Action, ...]
    drain: Literal["nodes", "partition", "all"] | None = None
    note: str | None = None
    danger: str | None = None
    doc: str | None = None
    tested: str | None = None
    certainty: str | None = None


class Effect(Row):
    """One kind of change. `keys` are names such as `slurm.conf:NodeName.Sockets`, with `*` at an end, or
    `slurm.conf:SlurmdParameters=WORD` where the row holds for this word of the key only. A row that `refines`
    another takes its keys out of that one: what stands there in the notes, as steps."""

    id: str
    what: str
    keys: tuple[str, ...]
    rules: tuple[Rule, ...]
    running_jobs: str | None = None
    note: str | None = None
    danger: str | None = None
    condition: str | None = None
    also: str | None = None
    doc: str | None = None
    refines: str | None = None

    def rule_in(self, release: Release) -> Rule | None:
        """What holds for a release; None where the change cannot occur (the file or key is newer)."""
        return next((rule for rule in self.rules if span_covers(rule.releases, release)), None)

    def concerns(self, qualified: str) -> bool:
        """Does a change of the key `slurm.conf:NodeName.Sockets` fall under this row?"""
        return bool(self._patterns(qualified))

    def words_of(self, qualified: str) -> tuple[str, ...]:
        """The words of the key for which alone the row holds; none means for the whole key."""
        return tuple(pattern.partition("=")[2] for pattern in self._patterns(qualified) if "=" in pattern)

    def _patterns(self, qualified: str) -> list[str]:
        name = qualified.lower()
        return [pattern for pattern in self.keys if fnmatchcase(name, pattern.partition("=")[0].lower())]


class Remark(Row):
    """How reloading itself behaves in a span of releases."""

    releases: str
    topic: str
    text: str
    tested: str | None = None


class EffectTable(Row):
    """The whole table: effects by id, the meaning of each action, remarks on reloading and dynamic nodes."""

    source: tuple[str, ...]
    actions: Mapping[Action, str]
    reload: tuple[Remark, ...]
    dynamic_nodes: tuple[Remark, ...]
    effects: Mapping[str, Effect]


@cache
def table() -> EffectTable:
    """All effects, read when first asked for."""
    path = DATA / "slurm_effects.yaml"
    raw = load(path)
    rows = {name: row(Effect, body, path, name, id=name) for name, body in raw.pop("effects").items()}
    return row(EffectTable, raw, path, effects=MappingProxyType(rows))


def effect(name: str) -> Effect:
    """The effect with this id; raises InputError with the nearest id."""
    rows = table().effects
    if name not in rows:
        raise InputError.of(f"effect '{name}' is not in the catalogue; {did_you_mean(name, rows)}")
    return rows[name]


def effects_of(key: str) -> tuple[Effect, ...]:
    """Every effect that a change of `key` can have; the key is written as for `options.find`.

    A key of Slurm's that no row names, or only for some of its words, has the effect `other` as well; a key
    that Slurm does not have has none.
    """
    names = tuple(option.name for option in find(key))
    rows = rows_of(names)
    whole = any(e.concerns(name) and not e.words_of(name) for e in rows for name in names)
    return rows if whole or not names else (*rows, effect(OTHER))


def rows_of(names: Iterable[str]) -> tuple[Effect, ...]:
    """The rows for keys such as `slurm.conf:NodeName.Port`; one that another refines gives way to it."""
    found = [e for e in table().effects.values() if any(e.concerns(name) for name in names)]
    refined = {e.refines for e in found}
    return tuple(e for e in found if e.id not in refined)


def rule_text(rule: Rule) -> str:
    """`drain the affected nodes; restart slurmctld; restart slurmd on every node`, as a person reads it."""
    drained = {
        "nodes": "drain the affected nodes",
        "partition": "drain the partition's jobs",
        "all": "drain all nodes",
    }
    steps = [drained[rule.drain]] if rule.drain else []
    steps += [table().actions[action].split(" (")[0] for action in rule.actions]
    return "; then ".join(steps) or "nothing takes it up by itself"
