"""Finds what takes more than one field of cluster.yaml to judge, in whatever parts of it could be read.

A part with faults of its own is None here; checks that would need it are left out, so that one mistake is
reported once.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from slurmwright.core.release import Release
from slurmwright.model import names
from slurmwright.model.check_as_written import check_as_written
from slurmwright.model.check_containers import check_containers
from slurmwright.model.check_hosts import Groups, check_control, check_groups
from slurmwright.model.check_nccl import check_tuned
from slurmwright.model.check_partitions import Partitions, check_choices, check_partitions
from slurmwright.model.check_settings import check_group_options, check_overrides, check_partition_options
from slurmwright.model.check_topology import check_imex, check_topology
from slurmwright.model.cluster import (
    Accounting,
    Containers,
    Control,
    Fabric,
    Nccl,
    NodeGroup,
    Partition,
    Scratch,
    Setting,
    Slurm,
    Topology,
)
from slurmwright.model.faults import Faults

#: What `accounting.billing` may weigh.
_BILLED = re.compile(r"(?:cpu|mem_gb|gpu(?::[A-Za-z0-9][A-Za-z0-9_.-]{0,63})?)\Z")
#: Folders that the prolog must not give to root alone.
_SHARED_FOLDERS = frozenset(
    f"/{name}"
    for name in (
        *("bin", "boot", "dev", "etc", "home", "lib", "local", "media", "mnt", "opt", "proc", "root", "run"),
        *("sbin", "scratch", "shared", "srv", "sys", "tmp", "usr", "var", "var/lib", "var/log", "var/spool"),
        *("var/tmp", "dev/shm", "usr/local"),
    )
)


@dataclass(frozen=True)
class Parts:
    """A cluster.yaml part by part, as far as each could be read."""

    name: str | None
    slurm: Slurm | None
    control: Control | None
    nodes: tuple[NodeGroup | None, ...]
    partitions: tuple[Partition | None, ...]
    fabric: Fabric | None
    nccl: Nccl | None
    topology: Topology | None
    scratch: Scratch | None
    containers: Containers | None
    accounting: Accounting | None
    overrides: Mapping[str, Mapping[str, Setting]]


def check(faults: Faults, parts: Parts) -> None:
    """Note everything that does not fit together."""
    _check_nccl(faults, parts)
    groups: Groups = [(at, group) for at, group in enumerate(parts.nodes) if group is not None]
    partitions: Partitions = [(at, part) for at, part in enumerate(parts.partitions) if part is not None]
    release = parts.slurm.release if parts.slurm else None
    if parts.name is not None and (wrong := names.bad_cluster_name(parts.name)):
        faults.add(("name",), wrong)
    if parts.slurm:
        _check_slurm(faults, parts.slurm)
        _check_autodetect(faults, groups, parts.slurm)
        check_imex(faults, parts.slurm)
    if parts.topology:
        check_topology(faults, parts.topology, release)
    _check_node_disk(faults, parts.scratch, parts.containers)
    check_groups(faults, groups)
    if parts.accounting:
        _check_accounting(faults, parts.accounting)
    if parts.control:
        check_control(faults, parts.control, groups)
        _check_roles(faults, parts.control, parts.accounting)
    check_partitions(faults, partitions)
    if groups and len(groups) == len(parts.nodes):
        check_choices(faults, partitions, groups)
    check_overrides(faults, parts.overrides, release)
    check_group_options(faults, groups, release)
    check_as_written(faults, groups, release)
    check_partition_options(faults, partitions, release)


def _check_slurm(faults: Faults, slurm: Slurm) -> None:
    if wrong := names.bad_user(slurm.user):
        faults.add(("slurm", "user"), wrong)
    if wrong := names.bad_folder(slurm.config_dir):
        faults.add(("slurm", "config_dir"), wrong)


def _check_node_disk(faults: Faults, scratch: Scratch | None, containers: Containers | None) -> None:
    if containers:
        check_containers(faults, containers)
    if scratch is None:
        return
    where = ("scratch", "base")
    if wrong := names.bad_folder(scratch.base):
        faults.add(where, wrong)
    elif scratch.base in _SHARED_FOLDERS:
        faults.add(
            where,
            f"{scratch.base} belongs to the system or to all users; give jobs a folder of their own, for "
            "example /local/scratch",
        )
    elif scratch.private_tmp and scratch.base.startswith(("/tmp/", "/dev/shm/")):  # noqa: S108
        faults.add(where, f"{scratch.base} lies in a folder that private_tmp hides from jobs; choose another")


def _check_roles(faults: Faults, control: Control, accounting: Accounting | None) -> None:
    if wrong := names.bad_folder(control.state_dir):
        faults.add(("control", "state_dir"), wrong)
    if len(control.controllers) > 1 and "state_dir" not in control.model_fields_set:
        faults.add(
            ("control", "controllers"),
            f"{len(control.controllers)} controllers need one state folder that all of them see; name it on "
            "shared storage, for example state_dir: /shared/slurm/state",
        )
    if accounting and accounting.enabled and control.database is None:
        faults.add(
            ("accounting",), "accounting needs slurmdbd; name its host, for example control: {database: db1}"
        )


def _check_accounting(faults: Faults, accounting: Accounting) -> None:
    password = accounting.storage_password
    where = ("accounting", "storage_password")
    if wrong := names.bad_folder(password.file):
        faults.add((*where, "file"), wrong.replace("no folder", "no path"))
    if password.vault is not None and not password.vault.isidentifier():
        faults.add((*where, "vault"), "is no name of an Ansible variable; expected letters, digits and '_'")
    weights = accounting.billing if isinstance(accounting.billing, dict) else {}
    for word, weight in weights.items():
        place = ("accounting", "billing", word)
        if not _BILLED.match(word):
            faults.add(place, "expected cpu, mem_gb, gpu or gpu:TYPE, each with its weight", key=True)
        elif not 0 <= weight < 10**6:
            faults.add(place, f"{weight} is no weight; expected a number from 0 to 999999")


def _check_autodetect(faults: Faults, groups: Groups, slurm: Slurm) -> None:
    for at, group in groups:
        if wrong := _bad_autodetect(group.autodetect, slurm.nvml, slurm.release):
            faults.add(("nodes", at, "autodetect"), wrong)


def _bad_autodetect(way: str | None, nvml: bool, release: Release) -> str | None:
    if way == "nvml" and not nvml:
        return (
            "autodetect nvml needs a Slurm built with NVML; say so with slurm: {nvml: true}, or leave it out"
        )
    if way == "nvidia" and not release.at_least("24.11"):
        return f"autodetect nvidia came with Slurm 24.11, and the release here is {release}; leave it out"
    return None


def _check_nccl(faults: Faults, parts: Parts) -> None:
    """Words for one kind of network on another."""
    nccl, kind = parts.nccl, parts.fabric.kind if parts.fabric else "none"
    if nccl and nccl.traffic_class is not None and kind != "roce":
        text = f"traffic_class is for RoCE; fabric.kind is {kind}"
        faults.add(("nccl", "traffic_class"), text)
    if nccl and nccl.sharp and kind != "infiniband":
        faults.add(("nccl", "sharp"), f"SHARP is in InfiniBand switches; fabric.kind is {kind}")
    if nccl and nccl.socket_interface and kind == "none":
        faults.add(("nccl", "socket_interface"), "nothing is written for NCCL without a fabric")
    types = {group.type for group in parts.nodes if group is not None}
    check_tuned(faults, nccl.tuned if nccl else (), kind, types)
