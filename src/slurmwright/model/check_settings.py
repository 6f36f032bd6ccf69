"""Finds options that the release does not know, that the model already says, or that would hide a fault.

`overrides` and `options` take any key that Slurm takes, but a value that follows from the rest of
cluster.yaml has one place only; the message names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.catalogue.options import check_setting, lookup
from slurmwright.core.errors import did_you_mean
from slurmwright.core.release import Release
from slurmwright.model import names
from slurmwright.model.check_hosts import Groups
from slurmwright.model.check_partitions import Partitions
from slurmwright.model.cluster import Setting
from slurmwright.model.faults import Faults
from slurmwright.model.plain_words import short
from slurmwright.model.yaml_source import Where

#: The files whose global options may be overridden.
OVERRIDABLE = ("slurm.conf", "cgroup.conf", "slurmdbd.conf")

_OTHER_FILES = {
    "gres.conf": "it follows from node_types and from autodetect of a group",
    "topology.conf": "it follows from topology and racks",
    "topology.yaml": "it follows from topology and racks",
    "job_container.conf": "it follows from scratch",
    "plugstack.conf": "it follows from containers",
}
_CONTROLLERS = "control.controllers"
_GLOBAL_DERIVED = {
    "clustername": "name",
    "slurmctldhost": _CONTROLLERS,
    "controlmachine": _CONTROLLERS,
    "controladdr": _CONTROLLERS,
    "backupcontroller": _CONTROLLERS,
    "backupaddr": _CONTROLLERS,
    "statesavelocation": "control.state_dir",
    "slurmuser": "slurm.user",
    "nodename": "nodes",
    "partitionname": "partitions",
    "grestypes": "node_types",
    "topologyplugin": "topology",
    "accountingstoragetype": "accounting",
    "accountingstoragehost": "control.database",
    "jobcontainertype": "scratch.private_tmp",
    "namespacetype": "scratch.private_tmp",
    "include": "overrides (all options stand in one file)",
}
_DATABASE_DERIVED = {
    "dbdhost": "control.database",
    "dbdaddr": "control.database",
    "slurmuser": "slurm.user",
}
_DERIVED = {"slurm.conf": _GLOBAL_DERIVED, "slurmdbd.conf": _DATABASE_DERIVED}
_NODE_DERIVED = {
    "nodename": "hosts",
    "nodeaddr": "address",
    "feature": "features",
    "features": "features",
    "weight": "weight",
    "gres": "type (gpu of the node type)",
    "realmemory": "type (memory.real_memory_mb of the node type)",
    **dict.fromkeys(
        ("cpus", "procs", "boards", "sockets", "socketsperboard", "corespersocket", "threadspercore"),
        "type (cpu of the node type)",
    ),
}
_PARTITION_DERIVED = {
    "partitionname": "name",
    "nodes": "nodes",
    "default": "default",
    "maxtime": "max_time",
    "defaulttime": "default_time",
    "state": "state",
    "prioritytier": "priority_tier",
}
_TOKEN_REASONS = {
    "config_override": "it lets a node with a wrong CPU layout register as idle, so the fault stays hidden; "
    "correct the node type instead",
    "l3cache_as_socket": "it changes what slurmd counts as a socket, against the node types' cpu",
    "numa_node_as_socket": "it is written where cpu.numa_per_socket of a node type asks for it",
}


def check_overrides(
    faults: Faults, overrides: Mapping[str, Mapping[str, Setting]], release: Release | None
) -> None:
    """Every option of `overrides`; without a good release only what does not depend on it."""
    for file, settings in overrides.items():
        where: Where = ("overrides", file)
        if file not in OVERRIDABLE:
            reason = _OTHER_FILES.get(file)
            hint = f"cannot be overridden: {reason}" if reason else f"is not known; {_nearest(file)}"
            faults.add(where, f"file '{short(file)}' {hint}", key=True)
            continue
        derived = _DERIVED.get(file, {})
        _check_twice(faults, where, settings)
        for key, value in settings.items():
            _check_setting(faults, (*where, key), (file, "global"), derived, value, release)


def check_group_options(faults: Faults, groups: Groups, release: Release | None) -> None:
    """The `options` of node groups, keys of a NodeName line."""
    for at, group in groups:
        where: Where = ("nodes", at, "options")
        _check_twice(faults, where, group.options)
        for key, value in group.options.items():
            _check_setting(faults, (*where, key), ("slurm.conf", "NodeName"), _NODE_DERIVED, value, release)


def check_partition_options(faults: Faults, partitions: Partitions, release: Release | None) -> None:
    """The `options` of partitions, keys of a PartitionName line."""
    for at, partition in partitions:
        where: Where = ("partitions", at, "options")
        _check_twice(faults, where, partition.options)
        for key, value in partition.options.items():
            section = ("slurm.conf", "PartitionName")
            _check_setting(faults, (*where, key), section, _PARTITION_DERIVED, value, release)


def _nearest(file: str) -> str:
    return did_you_mean(file, OVERRIDABLE)


def _check_twice(faults: Faults, where: Where, settings: Mapping[str, object]) -> None:
    """Slurm does not tell upper from lower case in keys, YAML does."""
    seen: dict[str, str] = {}
    for key in settings:
        first = seen.setdefault(key.lower(), key)
        if first != key:
            faults.add((*where, key), f"'{short(key)}' is '{first}' to Slurm; keep one", key=True)


def _check_setting(
    faults: Faults,
    where: Where,
    section: tuple[str, str],
    derived: Mapping[str, str],
    value: Setting,
    release: Release | None,
) -> None:
    key = str(where[-1])
    shown = short(key)
    if wrong := names.bad_key(key):
        faults.add(where, wrong, key=True)
        return
    if key.lower() in derived:
        faults.add(
            where, f"{shown} follows from the rest of this file; change {derived[key.lower()]}", key=True
        )
        return
    if key.lower().endswith(("pass", "password")):
        faults.add(
            where,
            f"{shown} is a secret, and secrets never stand in cluster.yaml; keep it on the host in a file or "
            f"script of its own, and name that (from 25.11 {shown}Script, where Slurm has it)",
            key=True,
        )
        return
    before = len(faults)
    for step, wrong in _bad_texts(value):
        by_key = isinstance(step, str)
        faults.add(where if step is None else (*where, step), wrong, key=by_key)
    if len(faults) == before and release is not None:
        text = _as_text(value)
        # What is not written needs no release, but a key that no release knows is a typing error.
        unasked = not text and lookup(*section, key) is not None
        wrong_option = None if unasked else check_setting(release, *section, key, text)
        if wrong_option:
            faults.add(where, wrong_option, key=True)
    if key.lower() in ("slurmdparameters", "parameters"):
        _check_tokens(faults, where, shown, value)


def _check_tokens(faults: Faults, where: Where, key: str, value: Setting) -> None:
    for token in _tokens(value):
        for refused, reason in _TOKEN_REASONS.items():
            # Slurm searches for substrings, so a longer word switches it on too (read_config.c).
            if refused in token.lower():
                faults.add(where, f"{key}={short(token)} is refused: {reason}", key=True)


def _tokens(value: Setting) -> list[str]:
    if value is None:
        return []
    return value.split(",") if isinstance(value, str) else list(value)


def _bad_texts(value: Setting) -> Iterator[tuple[str | int | None, str]]:
    """What would leave the option's own place in the file: which part of the setting, and why."""
    if isinstance(value, str):
        if wrong := names.bad_value(value):
            yield None, wrong
    elif isinstance(value, tuple):
        if not value:
            yield None, "the list is empty; write null to leave the option out"
        for at, item in enumerate(value):
            if wrong := names.bad_value(item) or names.bad_entry(item):
                yield at, wrong
    elif value is not None:
        for token, content in value.items():
            wrong = names.bad_token(token)
            if wrong is None and isinstance(content, str):
                wrong = names.bad_value(content) or names.bad_entry(content)
            if wrong:
                yield token, wrong


def _as_text(value: Setting) -> str:
    """The setting as it would stand in the file, as far as it is known here; empty where nothing would."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, tuple):
        return ",".join(value)
    kept = (
        token if item is True else f"{token}={item}" for token, item in value.items() if item is not False
    )
    return ",".join(kept)
