"""Two bundles to the plan that leads from one to the other."""

from __future__ import annotations

from collections import Counter

from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.plan.changes import raw_changes
from slurmwright.plan.effects import change_of
from slurmwright.plan.files import differing, file_changes
from slurmwright.plan.needs import needs_of
from slurmwright.plan.secrets import without_secrets
from slurmwright.plan.sides import side_of
from slurmwright.plan.steps import contacted, steps_of
from slurmwright.plan.values import Change, Plan, worst


def compare(old: Bundle, new: Bundle) -> Plan:
    """Raises InputError where the two cannot be compared: no slurm.conf, another release, broken YAML."""
    release = Release.parse(new.release)
    if Release.parse(old.release).series != release.series:
        raise InputError.of(
            f"one side is for Slurm {old.release} and the other for {new.release}: that is an upgrade "
            "(slurmdbd, slurmctld, slurmd, in this order), not a change of files; render both for one release"
        )
    old, new = without_secrets(old, new)
    left, right = side_of(old), side_of(new)
    raws = (*raw_changes(left, right), *file_changes(left, right))
    changes = tuple(change_of(raw, release) for raw in raws)
    needs = needs_of(left, right, changes)
    steps = steps_of(left, right, needs) if changes else ()
    hosts = contacted(right, needs, steps)
    drained = (*needs.drained, *(f"PartitionName={name}" for name in needs.partitions))
    alike = () if changes else tuple(sorted({path for path, _ in differing(old, new)}))
    summary = _summary(new, changes, hosts, drained)
    return Plan(old, new, changes, steps, hosts, drained, summary, alike)


def _summary(
    new: Bundle, changes: tuple[Change, ...], hosts: tuple[str, ...], drained: tuple[str, ...]
) -> str:
    """One line for a change ticket."""
    head = f"{new.cluster}, Slurm {new.release}"
    if not changes:
        return f"{head}: nothing to do"
    kinds = Counter(change.kind for change in changes)
    said = ", ".join(f"{kinds[kind]} {kind}" for kind in ("added", "changed", "removed") if kinds[kind])
    daemons = {
        name: worst(getattr(change.effects, name) for change in changes)
        for name in ("slurmdbd", "slurmctld", "slurmd")
    }
    does = ", ".join(f"{name} {level}" for name, level in daemons.items() if level != "none") or "no daemon"
    drain = f"drain {len(drained)} first" if drained else "no drain"
    return f"{head}: {said}; {does}; {drain}; {len(hosts)} hosts contacted"
