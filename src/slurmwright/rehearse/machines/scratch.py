"""Writes the inventory that the playbooks get for the guests: the same cluster, reached on this machine.

cluster.yaml keeps all nodes; only its servers become one. `host_vars` say where each guest is to be reached,
and the playbooks are limited to the guests.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from slurmwright.core.bundle import Bundle
from slurmwright.core.release import Release
from slurmwright.model.cluster import Cluster
from slurmwright.model.load import cluster_file
from slurmwright.model.yaml_source import read_yaml
from slurmwright.rehearse.machines.guests import Access
from slurmwright.rehearse.machines.plan import Plan
from slurmwright.rehearse.machines.qemu import Guest
from slurmwright.rehearse.values import Adaptation

BUNDLE = "rendered"
FACTS = "facts"
#: (variable of a role, value, why): what a machine of 1.5 GB cannot give.
ROLE_VARIABLES = (
    ("slurm_database_innodb_buffer_pool_size", "128M", "the server is a small guest"),
    ("slurm_database_innodb_log_file_size", "32M", "the server is a small guest"),
)


def write_inventory(
    folder: Path,
    inventory: Path,
    bundle: Bundle,
    plan: Plan,
    guests: Mapping[str, Guest],
    access: Access,
    release: Release,
) -> None:
    """Put cluster.yaml, the cut bundle and the connections into `folder`."""
    raw = read_yaml(cluster_file(inventory)).data
    folder.mkdir(mode=0o700)
    _dump(folder / "cluster.yaml", one_server(raw, plan.server, release))
    bundle.write(folder / BUNDLE)
    facts = cluster_file(inventory).parent / FACTS
    if facts.is_dir():
        shutil.copytree(facts, folder / FACTS)
    (folder / "host_vars").mkdir()
    for name, guest in guests.items():
        _dump(
            folder / "host_vars" / f"{name}.yml",
            {"ansible_port": guest.ssh_port, "ansible_host": "127.0.0.1"},
        )
    (folder / "group_vars").mkdir()
    known = f"-o GlobalKnownHostsFile=/dev/null -o UserKnownHostsFile={access.known_hosts}"
    _dump(
        folder / "group_vars" / "all.yml",
        {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(access.key),
            "ansible_ssh_common_args": f"-F none -o IdentitiesOnly=yes {known}",
            "ansible_python_interpreter": "/usr/bin/python3",
            **{key: value for key, value, _ in ROLE_VARIABLES},
        },
    )


def one_server(raw: Mapping[str, Any], server: str, release: Release) -> dict[str, Any]:
    """The data of cluster.yaml with `server` in every part of `control`, and without containers, whose
    packages guests do not have."""
    control: dict[str, Any] = {key: value for key, value in raw["control"].items() if key == "state_dir"}
    control["controllers"] = [server]
    if raw["control"].get("database"):
        control["database"] = server
    if raw["control"].get("login"):
        control["login"] = [server]
    slurm = raw["slurm"] if isinstance(raw["slurm"], dict) else {}
    slurm = {**slurm, "release": str(release)}
    kept = {key: value for key, value in raw.items() if key != "containers"}
    return {**kept, "slurm": slurm, "control": control}


def adaptations(cluster: Cluster, plan: Plan) -> tuple[Adaptation, ...]:
    """What is different beside the files of the bundle."""
    made = [Adaptation("roles", 0, key, "", value, why) for key, value, why in ROLE_VARIABLES]
    if cluster.containers is not None:
        made.append(
            Adaptation(
                "cluster.yaml", 0, "containers", "on", "off", "guests have no packages of enroot and pyxis"
            )
        )
    for node_type in dict.fromkeys(node.type.name for node in plan.nodes):
        one = next(node for node in plan.nodes if node.type.name == node_type)
        layout, shape = one.expected.layout, one.shape
        made.append(
            Adaptation(
                f"node type {node_type}",
                0,
                "cores of a NUMA node",
                str(len(layout.nodes[0].cores)),
                str(shape.cores),
                f"a guest has {shape.sockets} sockets, {shape.numa} NUMA nodes, {shape.threads} "
                f"threads a core, {shape.memory_mb} MiB; GPUs and NICs are stand-ins at their PCIe switches",
            )
        )
    return tuple(made)


def _dump(path: Path, data: Mapping[str, Any]) -> None:
    path.write_text(yaml.safe_dump(dict(data), sort_keys=False), encoding="utf-8")
