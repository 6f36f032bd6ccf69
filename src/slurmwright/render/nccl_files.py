"""Fabric and node types to /etc/nccl.conf, NCCL's topology files, and the mounts that bring both into
containers.

NCCL takes a line as it stands, and in a container it reads the image's file unless the host's is mounted.
A `=` at the front of NCCL_IB_HCA makes its names exact; without it mlx5_1 means mlx5_10 too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.catalogue.nccl_variables import written_reasons
from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.bundle import BundleFile
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.render.plain import Block, plain_file, root_file
from slurmwright.topology.cpus import CpuLayout, parse_cpus
from slurmwright.topology.nccl_tree import compute_nics, missing_facts, type_tree
from slurmwright.topology.nccl_xml import COMMENT, topology_xml

CONF, FOLDER, MOUNTS = "/etc/nccl.conf", "/etc/nccl", "/etc/enroot/mounts.d/50-nccl.fstab"
_OPTIONS = "bind,ro,nosuid,nodev,noexec,nofail"
_DEVICE = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_RDMA = ("infiniband", "roce")


@dataclass(frozen=True)
class _Alike:
    """Hosts that get the same files: one type, the same adapters, the same topology file or none."""

    type: NodeType
    adapters: tuple[str, ...]
    hosts: tuple[str, ...]
    path: str = ""
    text: str = ""


def nccl_files(cluster: Cluster, facts: Mapping[str, HostFacts]) -> Iterator[BundleFile]:
    """Nothing without a fabric."""
    if cluster.fabric is None or cluster.fabric.kind == "none":
        return
    rows = _alike(cluster, facts)
    _refuse_unknown(cluster, rows)
    conf = [(row, tuple(_conf(cluster, row))) for row in rows]
    same = len({blocks for _, blocks in conf}) == 1
    if same and conf:
        hosts = [host for row in rows for host in row.hosts]
        yield plain_file(cluster.name, CONF, hosts, *conf[0][1])
    for number, (row, blocks) in enumerate(conf if not same else ()):
        earlier = sum(other.type == row.type for other in rows[:number])
        target = row.type.name + (f"-{earlier + 1}" if earlier else "")
        yield plain_file(cluster.name, CONF, row.hosts, *blocks, target=target)
    for path, text in dict.fromkeys((row.path, row.text) for row in rows if row.path):
        yield root_file(path, [host for row in rows if row.path == path for host in row.hosts], text)
    if cluster.containers and rows:
        yield from _mounts(cluster, rows)


def nccl_notes(cluster: Cluster, facts: Mapping[str, HostFacts]) -> Iterator[Finding]:
    """What is not told to NCCL because nobody knows it."""
    if cluster.fabric is None or cluster.fabric.kind == "none":
        return
    for row in _alike(cluster, facts):
        hosts = fold(row.hosts)
        if cluster.fabric.kind in _RDMA and not row.adapters:
            text = f"{hosts}: the names of the compute adapters are not known, so NCCL takes every adapter"
            fix = f"give network.devices of {row.type.name} in node_types, each {{name, pci, role: compute}}"
            yield Finding("render/nccl-adapters", "nccl-adapters", Severity.INFO, text, CONF, fix=fix)
        missing = missing_facts(row.type)
        if _wanted(cluster, row.type) and missing:
            text = f"{hosts}: no topology file, which machines of {row.type.name} need: {'; '.join(missing)}"
            yield Finding(
                "render/nccl-topology", "nccl-topology", Severity.INFO, text, CONF, fix="give those facts"
            )
    if cluster.fabric.kind == "roce" and cluster.nccl.traffic_class is None:
        text = "no traffic class: RoCE traffic goes to the default queue of the switches, which drops packets"
        fix = "nccl: {traffic_class: 106} for DSCP 26, or whichever the switches keep lossless"
        yield Finding("render/nccl-class", "nccl-class", Severity.INFO, text, CONF, fix=fix)


def hides_pcie(kind: NodeType) -> bool:
    """Do its machines show NCCL other PCI trees than they have? The catalogue says so of virtual machines."""
    return bool(kind.cloud and re.search(r"\bvirtual\b|TOPO_FILE|topology file", kind.pcie_note or ""))


def _wanted(cluster: Cluster, kind: NodeType) -> bool:
    """On EFA the plugin brings files of its own for each type of instance."""
    choice, fabric = cluster.nccl.topology_file, cluster.fabric
    if choice == "never" or not kind.gpu.count:
        return False
    return choice == "always" or (hides_pcie(kind) and fabric is not None and fabric.kind != "efa")


def _alike(cluster: Cluster, facts: Mapping[str, HostFacts]) -> list[_Alike]:
    """Nodes with GPUs, by type, adapters and topology, in written order."""
    found: dict[tuple[str, tuple[str, ...], str], list[str]] = {}
    for group in cluster.nodes:
        kind = cluster.node_types[group.type]
        for host in group.hosts if kind.gpu.count else ():
            fact = facts.get(host)
            text = _topology(kind, fact) if _wanted(cluster, kind) else ""
            found.setdefault((kind.name, _adapters(cluster, kind, fact), text), []).append(host)
    texts: dict[str, list[str]] = {}
    rows = []
    for (name, adapters, text), hosts in found.items():
        known = texts.setdefault(name, [])
        known += [text] if text and text not in known else []
        number = known.index(text) + 1 if text else 0
        path = f"{FOLDER}/{name}{f'-{number}' if number > 1 else ''}.xml" if text else ""
        rows.append(_Alike(cluster.node_types[name], adapters, tuple(hosts), path, text))
    return rows


def _topology(kind: NodeType, fact: HostFacts | None) -> str:
    """The file of a host: its type's, with its own CPUs and NUMA nodes; nothing where its GPUs or what is
    missing forbid to say anything."""
    seen = _as_seen(kind, fact)
    layout = None
    if fact and fact.cpu:
        nodes = [(node.id, node.socket, parse_cpus(node.cpus)) for node in fact.cpu.numa]
        try:
            layout = CpuLayout.from_lists(nodes, fact.cpu.threads_per_core)
        except ValueError:
            return ""
    if seen is None or missing_facts(seen, layout):
        return ""
    return topology_xml(type_tree(seen, layout).skeleton, COMMENT.format(kind.name))


def _as_seen(kind: NodeType, fact: HostFacts | None) -> NodeType | None:
    """The type with the NUMA nodes that the host shows; None where its GPUs have other bus ids."""
    if fact is None or fact.gpus is None:
        return kind
    places = {gpu.pci.lower(): gpu.numa for gpu in fact.gpus}
    if not set(places) <= {(gpu.pci or "").lower() for gpu in kind.gpus}:
        return None
    numa = {pci: node for pci, node in places.items() if node is not None}
    gpus = tuple(
        gpu.model_copy(update={"numa": numa.get((gpu.pci or "").lower(), gpu.numa)}) for gpu in kind.gpus
    )
    cards = {nic.pci.lower(): nic.numa for nic in fact.nics or ()}
    devices = tuple(
        nic.model_copy(update={"numa": cards.get((nic.pci or "").lower(), None if nic.gpus else nic.numa)})
        for nic in kind.network.devices
    )
    network = kind.network.model_copy(update={"devices": devices})
    return kind.model_copy(update={"gpus": gpus, "network": network})


def _adapters(cluster: Cluster, kind: NodeType, fact: HostFacts | None) -> tuple[str, ...]:
    """The devices of the compute rails: by bus id as the host names them, else as the type does."""
    if cluster.fabric is None or cluster.fabric.kind not in _RDMA:
        return ()
    rails = compute_nics(kind)
    names = tuple(nic.name for nic in rails)
    if fact and fact.nics is not None and all(nic.pci for nic in rails):
        places = {str(nic.pci).lower() for nic in rails}
        names = tuple(nic.name for nic in fact.nics if nic.pci.lower() in places)
    return names if all(_DEVICE.match(name) for name in names) else ()


def _refuse_unknown(cluster: Cluster, rows: list[_Alike]) -> None:
    if cluster.nccl.topology_file != "always":
        return
    where = ("nccl", "topology_file")
    problems = [
        Problem("", 0, 0, f"topology_file is always, but of {row.type.name} is not known: {fact}", where)
        for row in rows
        for fact in missing_facts(row.type)
    ]
    problems += [
        Problem("", 0, 0, f"{fold(row.hosts)}: facts have GPUs elsewhere than {row.type.name}", where)
        for row in rows
        if not row.path and not missing_facts(row.type)
    ]
    if problems:
        raise InputError(problems)


def _conf(cluster: Cluster, row: _Alike) -> Iterator[Block]:
    nccl = cluster.nccl
    settings = {
        "NCCL_DEBUG": "WARN",
        "NCCL_IB_HCA": f"={','.join(row.adapters)}" if row.adapters else "",
        "NCCL_SOCKET_IFNAME": f"={nccl.socket_interface}" if nccl.socket_interface else "",
        "NCCL_IB_TC": str(nccl.traffic_class) if nccl.traffic_class is not None else "",
        "NCCL_COLLNET_ENABLE": "1" if nccl.sharp else "",
        "NCCL_TOPO_FILE": row.path,
    }
    for name, value in settings.items():
        if value:
            yield Block(written_reasons()[name], (f"{name}={value}",))
    for one in nccl.tuned:
        if one.type == row.type.name:
            reason = f"Measured by slurmwright nccl tune on {one.nodes} nodes, {one.fabric}, NCCL {one.nccl}."
            yield Block(reason, tuple(f"{name}={value}" for name, value in sorted(one.set.items())))


def _mounts(cluster: Cluster, rows: list[_Alike]) -> Iterator[BundleFile]:
    lines = [f"{CONF} {CONF} none x-create=file,{_OPTIONS}"]
    if any(row.path for row in rows):
        lines.append(f"{FOLDER} {FOLDER} none x-create=dir,{_OPTIONS}")
    hosts = [host for row in rows for host in row.hosts]
    reason = "What NCCL is told on the host holds in containers too; else it reads the files of the image."
    yield plain_file(cluster.name, MOUNTS, hosts, Block(reason, tuple(lines)))
