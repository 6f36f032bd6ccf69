"""Answers for every key that render can write: what it does, why this value, since when, what a change costs.

The texts are rows under `data/explain/`; since when a key exists comes from the options and the cost of a
change from the effects, so neither is told twice.
"""

from __future__ import annotations

from functools import cache

from slurmwright.catalogue.effects import Effect, effects_of
from slurmwright.catalogue.options import Option, find, lookup
from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.core.errors import InputError, did_you_mean

FOLDER = DATA / "explain"


class Explanation(Row):
    """One key explained. `value` says in words what we write; `cost` is what the effects do not tell."""

    key: str
    file: str
    section: str
    does: str
    why: str
    value: str
    cost: str | None = None
    source: str

    @property
    def option(self) -> Option:
        """The row of the key itself."""
        found = lookup(self.file, self.section, self.key)
        if found is None:
            raise InputError.of(f"{self.key} is explained, but {self.file} has no such key in {self.section}")
        return found

    @property
    def name(self) -> str:
        """The name that means this key and no other, for example `slurm.conf:NodeName.State`."""
        return self.option.name

    @property
    def since(self) -> str:
        """The first Slurm version that takes the key; releases before 22.05 are not told apart."""
        return self.option.since or "before 22.05"

    @property
    def effects(self) -> tuple[Effect, ...]:
        """What a change of the key costs, by release."""
        return effects_of(self.name)


@cache
def explanations() -> tuple[Explanation, ...]:
    """Every explained key, in the order of the files: slurm.conf first, its global keys before its lines."""
    order = (
        "slurm.conf",
        "nodes",
        "partitions",
        "gres.conf",
        "cgroup.conf",
        "topology.conf",
        "slurmdbd.conf",
    )
    found: list[Explanation] = []
    for path in sorted(FOLDER.glob("*.yaml"), key=lambda p: order.index(p.stem) if p.stem in order else 99):
        raw = load(path)
        for key, body in raw.get("rows", {}).items():
            place = {"key": key, "file": raw.get("file"), "section": raw.get("section")}
            found.append(row(Explanation, body, path, key, **place))
    return tuple(found)


def explain_all(name: str) -> tuple[Explanation, ...]:
    """Every explanation that a name means (`State` stands on node lines and on partition lines).

    Written as `TaskPlugin`, `slurm.conf:TaskPlugin` or `slurm.conf:NodeName.State`, in any letter case;
    raises InputError with the nearest name.
    """
    wanted = {option.name for option in find(name)}
    matches = tuple(entry for entry in explanations() if entry.name in wanted)
    if matches:
        return matches
    if wanted:
        known = ", ".join(sorted(wanted))
        raise InputError.of(f"{known}: Slurm has this key, but we never write it; overrides can set it")
    near = did_you_mean(name.rpartition(":")[2], {entry.key for entry in explanations()})
    raise InputError.of(f"'{name}' is no key that is known here; {near}")


def explain(name: str) -> Explanation:
    """The first explanation that a name means; see `explain_all`."""
    return explain_all(name)[0]
