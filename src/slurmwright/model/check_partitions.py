"""Finds partitions without nodes, twice named, with two defaults, or with times that Slurm cannot read."""

from __future__ import annotations

from collections.abc import Sequence

from slurmwright.core.errors import did_you_mean
from slurmwright.core.hosts import fold
from slurmwright.model import names
from slurmwright.model.check_hosts import Groups
from slurmwright.model.cluster import NodeChoice, Partition
from slurmwright.model.faults import Faults
from slurmwright.model.plain_words import short
from slurmwright.model.slurm_time import minutes
from slurmwright.model.yaml_source import Where

_FORMS = "{type: ...}, {feature: ...} or {hosts: ...}"
Partitions = Sequence[tuple[int, Partition]]


def check_partitions(faults: Faults, partitions: Partitions) -> None:
    """What partitions say about themselves and each other."""
    first_of: dict[str, int] = {}
    default: int | None = None
    for at, partition in partitions:
        where: Where = ("partitions", at)
        if wrong := names.bad_partition(partition.name):
            faults.add((*where, "name"), wrong)
        first = first_of.setdefault(partition.name, at)
        if first != at:
            line = faults.line(("partitions", first, "name"))
            faults.add(
                (*where, "name"), f"partition '{partition.name}' already stands in line {line}; rename one"
            )
        if partition.default and default is not None:
            line = faults.line(("partitions", default, "default"))
            faults.add(
                (*where, "default"), f"a second default partition, the first is in line {line}; keep one"
            )
        elif partition.default:
            default = at
        _check_times(faults, where, partition)


def check_choices(faults: Faults, partitions: Partitions, groups: Groups) -> None:
    """Every name in a partition's `nodes` leads to at least one node."""
    known = {
        "type": {group.type for _, group in groups},
        "feature": {feature for _, group in groups for feature in group.features},
        "hosts": {host for _, group in groups for host in group.hosts},
    }
    for at, partition in partitions:
        where: Where = ("partitions", at, "nodes")
        choice = partition.nodes
        if not (choice.all or choice.type or choice.feature or choice.hosts):
            faults.add(where, f"partition '{short(partition.name)}' has no nodes; expected all or {_FORMS}")
        _check_choice(faults, where, choice, known)


def _check_choice(faults: Faults, where: Where, choice: NodeChoice, known: dict[str, set[str]]) -> None:
    for role, chosen in (("type", choice.type), ("feature", choice.feature)):
        for at, name in enumerate(chosen):
            if name not in known[role]:
                faults.add(
                    (*where, role, at), f"no node has {role} '{short(name)}'; {_nearest(name, known[role])}"
                )
    missing = [host for host in choice.hosts if host not in known["hosts"]]
    if missing:
        hint = f"the nodes are {fold(known['hosts'])}" if known["hosts"] else "there are no nodes"
        faults.add((*where, "hosts"), f"{fold(missing)} is no node of this cluster; {hint}")


def _nearest(name: str, known: set[str]) -> str:
    return did_you_mean(name, known) if known else "no group of nodes has any"


def _check_times(faults: Faults, where: Where, partition: Partition) -> None:
    limits: dict[str, int | None] = {}
    for role, text in (("max_time", partition.max_time), ("default_time", partition.default_time)):
        if text is None:
            continue
        try:
            limits[role] = minutes(text)
        except ValueError as error:
            faults.add((*where, role), str(error))
            continue
        if limits[role] == 0:
            faults.add((*where, role), f"{role} is {text}, no time at all; expected a minute or more")
    longest, usual = limits.get("max_time"), limits.get("default_time", 0)
    if longest is not None and (usual is None or usual > longest):
        faults.add(
            (*where, "default_time"),
            f"default_time {partition.default_time} is longer than max_time {partition.max_time}",
        )
