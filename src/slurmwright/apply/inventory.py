"""Cluster, facts and bundle to what Ansible calls an inventory: groups, and variables of groups and hosts.

Variables say what cluster.yaml says and which files a host gets; no value of a Slurm file is computed here.
Hosts that get the same files share a group `slurm_files_N` that holds their list: ten thousand copies of it
would take Ansible longer than the push.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.bundle import Bundle
from slurmwright.core.hosts import expand
from slurmwright.model.cluster import Cluster, HostException, NodeGroup, Server
from slurmwright.model.facts import HostFacts
from slurmwright.model.host_gpus import host_gpus
from slurmwright.render.bundle import SACKD_SINCE
from slurmwright.render.folders import enroot_folder
from slurmwright.render.slurmdbd_conf import PASSWORD

#: The group of every host, and those of the daemons that a host runs.
ALL = "slurm"
CONTROLLER, DATABASE, LOGIN, NODE = "slurm_controller", "slurm_database", "slurm_login", "slurm_node"

#: Word of containers.hooks → file below hooks.d in enroot's share folder (enroot's conf/hooks/extra). Role
#: enroot has the same files as enroot_own_hooks, to switch off what is no longer asked for.
HOOKS = {
    "pmi": "50-slurm-pmi.sh",
    "pytorch": "50-slurm-pytorch.sh",
    "sharp": "50-sharp.sh",
    "mig-config": "50-mig-config.sh",
}


@dataclass(frozen=True)
class Group:
    """One group; `hosts` in written order, the primary controller first."""

    name: str
    hosts: tuple[str, ...]
    vars: Mapping[str, Any]


@dataclass(frozen=True)
class Inventory:
    """All groups, that of every host first and the others below it (so that their variables come before its
    own), and the variables in which hosts of one group differ."""

    groups: tuple[Group, ...]
    hosts: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Files:
    """A bundle as the roles take it: its folder, and why it must not be pushed ("" where it may)."""

    folder: str
    bundle: Bundle | None
    problem: str = ""


def inventory(cluster: Cluster, facts: Mapping[str, HostFacts], files: Files) -> Inventory:
    """The inventory of a cluster with the files of one bundle."""
    hosts = _hosts(cluster, facts)
    every = Group(ALL, tuple(hosts), {**_common(cluster), **_pushed(files)})
    return Inventory(
        (every, *_daemons(cluster), *_types(cluster), *_partitions(cluster), *_file_sets(files, hosts)), hosts
    )


def _common(cluster: Cluster) -> dict[str, Any]:
    """What holds for the whole cluster."""
    control, source = cluster.control, cluster.accounting.storage_password
    return {
        "slurm_cluster_name": cluster.name,
        "slurm_release": str(cluster.slurm.release),
        "slurm_user": cluster.slurm.user,
        "slurm_config_dir": cluster.slurm.config_dir.rstrip("/"),
        "slurm_state_dir": control.state_dir,
        "slurm_controllers": [server.host for server in control.controllers],
        "slurm_controller_addresses": [server.address or server.host for server in control.controllers],
        "slurm_database_host": control.database.host if control.database else "",
        "slurm_accounting": cluster.accounting.enabled,
        "slurm_storage_password_file": source.file,
        "slurm_storage_password_variable": source.vault or "",
        "slurm_is_primary_controller": False,
        "slurm_node_type": "",
        "slurm_gpu_count": 0,
        "slurm_gpu_minors": [],
        "slurm_gpu_caps": [],
        "slurm_has_nvswitch": False,
        "slurm_has_sackd": cluster.slurm.release.at_least(SACKD_SINCE),
        "slurm_containers": cluster.containers is not None,
        "slurm_pyxis_plugin": cluster.containers.plugin if cluster.containers else "",
        "slurm_enroot_folder": enroot_folder(cluster) if cluster.containers else "",
        "slurm_enroot_hooks": _hooks(cluster),
        "slurm_scratch_base": cluster.scratch.base if cluster.scratch else "",
    }


def _hooks(cluster: Cluster) -> list[str]:
    """Files of enroot's package that must be linked; names give their order, before 98-nvidia.sh."""
    if cluster.containers is None:
        return []
    asked = [*cluster.containers.hooks, *(["sharp"] if cluster.nccl.sharp else [])]
    return [HOOKS[name] for name in dict.fromkeys(asked)]


def _pushed(files: Files) -> dict[str, Any]:
    return {
        "slurm_files_bundle": files.folder,
        "slurm_files_problem": files.problem,
        "slurm_files_entries": [],
    }


def _hosts(cluster: Cluster, facts: Mapping[str, HostFacts]) -> dict[str, dict[str, Any]]:
    """Every host with its own variables: servers first, then nodes, each once."""
    control = cluster.control
    found: dict[str, dict[str, Any]] = {}
    database = (control.database,) if control.database else ()
    for server in (*control.controllers, *database, *control.login):
        found.setdefault(server.host, {}).update(_address(server))
    found[control.controllers[0].host]["slurm_is_primary_controller"] = True
    for group in cluster.nodes:
        exceptions = group.differing()
        node_type = cluster.node_types[group.type]
        for at, host in enumerate(group.hosts):
            address = {"ansible_host": group.address[at]} if group.address else {}
            own = found.setdefault(host, {})
            own.update(address)
            if group.mig or host in exceptions or host in facts:
                own.update(_gpus(node_type, group, exceptions.get(host), facts.get(host)))
    return found


def _gpus(
    node_type: NodeType, group: NodeGroup, exception: HostException | None, facts: HostFacts | None
) -> dict[str, Any]:
    """The GPUs that the driver must show, those that are withheld from jobs too."""
    gpus = host_gpus(node_type, group, exception, facts)
    caps = sorted({minor for gpu in gpus for one in gpu.instances for minor in one.caps or ()})
    return {
        "slurm_gpu_count": len(gpus),
        "slurm_gpu_minors": [gpu.minor for gpu in gpus],
        "slurm_gpu_caps": caps,
    }


def _address(server: Server) -> dict[str, str]:
    return {"ansible_host": server.address} if server.address else {}


def _daemons(cluster: Cluster) -> Iterator[Group]:
    control = cluster.control
    servers = {
        CONTROLLER: control.controllers,
        DATABASE: (control.database,) if control.database else (),
        LOGIN: control.login,
    }
    for name, members in servers.items():
        yield Group(name, tuple(server.host for server in members), {})
    yield Group(NODE, tuple(host for group in cluster.nodes for host in group.hosts), {})


def _types(cluster: Cluster) -> Iterator[Group]:
    """`type_dgx_h100`: nodes of one type and what they have by type."""
    members: dict[str, list[NodeGroup]] = {}
    for group in cluster.nodes:
        members.setdefault(group.type, []).append(group)
    for name, groups in members.items():
        node_type = cluster.node_types[name]
        switches = node_type.nvlink.nvswitch not in (None, "", "0")
        hosts = tuple(host for group in groups for host in group.hosts)
        own = {"slurm_node_type": name, "slurm_has_nvswitch": switches}
        undivided = groups[0].model_copy(update={"mig": ()})
        yield Group(group_name("type", name), hosts, {**own, **_gpus(node_type, undivided, None, None)})


def _partitions(cluster: Cluster) -> Iterator[Group]:
    for partition in cluster.partitions:
        yield Group(group_name("partition", partition.name), partition.nodes.select(cluster.nodes), {})


def group_name(kind: str, name: str) -> str:
    """Ansible takes letters, digits and _ in the name of a group."""
    return f"{kind}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"


def _file_sets(files: Files, known: Mapping[str, object]) -> Iterator[Group]:
    """Hosts by the files that they get; a host of the bundle that the cluster does not have gets none."""
    if files.bundle is None:
        return
    entries: dict[str, list[int]] = {}
    for at, file in enumerate(files.bundle.files):
        for host in _expand(file.hosts):
            entries.setdefault(host, []).append(at)
    sets: dict[tuple[int, ...], list[str]] = {}
    for host in known:
        if host in entries:
            sets.setdefault(tuple(entries[host]), []).append(host)
    for number, (places, hosts) in enumerate(sets.items(), start=1):
        listed = [_entry(files.bundle, at) for at in places]
        yield Group(f"slurm_files_{number}", tuple(hosts), {"slurm_files_entries": listed})


def _entry(bundle: Bundle, at: int) -> dict[str, Any]:
    """One file as the roles place it. `has_password`: a placeholder in it is filled on the host, so its hash
    there is another."""
    file = bundle.files[at]
    return {
        "path": file.path,
        "source": file.source,
        "owner": file.owner,
        "group": file.group,
        "mode": file.mode,
        "sha256": file.sha256,
        "has_password": PASSWORD in file.text,
    }


@lru_cache(maxsize=64)
def _expand(hosts: str) -> tuple[str, ...]:
    return expand(hosts)
