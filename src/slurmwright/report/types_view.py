"""Turns node types into what a person reads: a table of all, or one drawn as sockets, NUMA nodes and GPUs.

A fact that nobody published is shown as unknown, never left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from slurmwright.catalogue.node_types import NodeType
from slurmwright.report.type_document import type_json as type_json
from slurmwright.report.type_document import types_table as types_table

UNKNOWN = "unknown"


def draw_types(rows: Iterable[Mapping[str, Any]]) -> Table:
    """The table of `slurmwright types`."""
    table = Table(show_edge=False, pad_edge=False)
    for column in ("type", "GPUs", "CPUs", "NUMA", "GiB"):
        table.add_column(column, no_wrap=True)
    table.add_column("description", overflow="fold")
    for row in rows:
        text = row["description"] + ("" if row["rendered"] else " (not rendered)")
        table.add_row(
            Text(row["name"]),
            Text(f"{row['gpu_count']}x {_known(row['gpu'])}"),
            Text(_geometry(row)),
            Text(_times(row["sockets"], row["numa_per_socket"])),
            Text(_known(row["nominal_gib"])),
            Text(text),
        )
    return table


def draw_type(kind: NodeType) -> RenderableType:
    """One type: its facts, its NUMA nodes with GPUs and network cards, sources, and what is not certain."""
    document = type_json(kind)
    facts = Table.grid(padding=(0, 2))
    for label, text in _facts(document):
        facts.add_row(Text(label, style="dim"), Text(text))
    lists = [_listed("source", document["source"]), _listed("unsure", document["unsure"])]
    head = Text(document["name"], style="bold")
    return Group(head, Text(document["description"]), facts, Text(), _machine(document), Text(), *lists)


def _facts(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    cpu, memory, gpu = document["cpu"], document["memory"], document["gpu_model"]
    if document["why_not_rendered"]:
        yield "not rendered", document["why_not_rendered"]
    yield "architecture", _known(document["arch"])
    yield "CPU", _known(cpu["model"])
    yield "CPUs", f"{_geometry(cpu)} (sockets x cores x threads), numbering {_known(cpu['numbering'])}"
    if cpu["bios"]:
        yield "BIOS", cpu["bios"]
    yield "memory", _memory(memory)
    if memory["cpu_memory_mb"]:
        yield "", f"of which {memory['cpu_memory_mb']} MiB at the CPUs, the rest is GPU memory"
    if memory["note"]:
        yield "", memory["note"]
    yield "GPUs", f"{document['gpu']['count']}x {gpu['nvml_name'] if gpu else UNKNOWN}"
    if gpu:
        yield "", f"Type={gpu['slurm_type']}, detected as {gpu['autodetect_type']}, {gpu['memory_mib']} MiB"
    yield "NVLink", _nvlink(document["nvlink"])
    yield (
        "PCIe",
        _joined(document["pcie_gen"] and f"generation {document['pcie_gen']}", document["pcie_note"]),
    )
    yield "network", _network(document["network"])
    yield "local disks", _known(document["local_scratch"])
    yield "Slurm view", _slurm(document["slurm"])
    if document["seen_slurm_line"]:
        yield "seen", document["seen_slurm_line"]
    if document["note"]:
        yield "note", document["note"]
    yield "unknown", ", ".join(document["unknown"]) or "nothing that render needs"


def _machine(document: Mapping[str, Any]) -> Tree:
    """Sockets, NUMA nodes, GPUs and network cards; where the layout is unknown the GPUs alone."""
    tree = Tree(Text("machine"))
    sockets: dict[int, Tree] = {}
    for node in document["numa"]:
        if node["socket"] not in sockets:
            sockets[node["socket"]] = tree.add(Text(f"socket {node['socket']}"))
        text = f"NUMA node {node['numa']}: cores {node['cores']}, OS CPUs {_known(node['cpus'])}"
        _fill(sockets[node["socket"]].add(Text(text)), document, node["gpus"], node["other_nics"])
    placed = {index for node in document["numa"] for index in node["gpus"]}
    rest = [gpu["index"] for gpu in document["gpus"] if gpu["index"] not in placed]
    if not document["numa"]:
        tree.add(Text(f"sockets, NUMA nodes and cores: {UNKNOWN}"))
    _fill(tree, document, rest, [nic["name"] for nic in _floating(document)])
    if not document["gpus"]:
        tree.add(Text(f"{document['gpu']['count']} GPUs, NUMA node and PCI id of each: {UNKNOWN}"))
    return tree


def _fill(branch: Tree, document: Mapping[str, Any], gpus: Iterable[int], others: Iterable[str]) -> None:
    nics = {nic["name"]: nic for nic in document["network"]["devices"]}
    for index in gpus:
        gpu = document["gpus"][index]
        numa = "" if document["numa"] else f" on NUMA node {_known(gpu['numa'])}"
        twig = branch.add(Text(f"GPU {index}: PCI {_known(gpu['pci'])}{numa}", style="bold"))
        for name in gpu["nics"]:
            twig.add(Text(_nic(nics.get(name, {"name": name}))))
    for name in others:
        branch.add(Text(_nic(nics[name])))


def _floating(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Network cards that stand neither below a GPU nor on a NUMA node that is drawn."""
    drawn = {name for gpu in document["gpus"] for name in gpu["nics"]}
    drawn |= {name for node in document["numa"] for name in node["other_nics"]}
    return [nic for nic in document["network"]["devices"] if nic["name"] not in drawn]


def _nic(nic: Mapping[str, Any]) -> str:
    rate = f"{nic['rate_gbps']} Gbit/s" if nic.get("rate_gbps") else None
    pci = f"PCI {nic['pci']}" if nic.get("pci") and nic["pci"] != nic["name"] else None
    more = _joined(pci, nic.get("netdev"), nic.get("role"), rate, nic.get("model"), nic.get("note"))
    return f"NIC {nic['name']}" + (f": {more}" if more != UNKNOWN else "")


def _memory(memory: Mapping[str, Any]) -> str:
    nominal = f"{memory['nominal_gib']} GiB" if memory["nominal_gib"] else UNKNOWN
    seen = f"{memory['real_memory_mb']} MiB" if memory["real_memory_mb"] else UNKNOWN
    return f"nominal {nominal}, RealMemory seen {seen}"


def _nvlink(link: Mapping[str, Any]) -> str:
    switches = link["nvswitch"] and link["nvswitch"] != "0" and f"NVSwitch: {link['nvswitch']}"
    block = link["block_size"] and f"one domain of {link['block_size']} nodes"
    return _joined(link["label"], link["gen"] and f"generation {link['gen']}", switches, block, link["note"])


def _network(net: Mapping[str, Any]) -> str:
    count = f"{net['compute_count']}x " if net["compute_count"] else ""
    rate = net["compute_rate_gbps"] and f"{net['compute_rate_gbps']} Gbit/s each"
    return _joined(net["compute_model"] and count + net["compute_model"], rate)


def _slurm(view: Mapping[str, Any] | None) -> str:
    if view is None:
        return UNKNOWN
    keys = ("SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore")
    text = " ".join(f"{key}={_known(view[key])}" for key in keys)
    return text + (" with numa_node_as_socket" if view["numa_node_as_socket"] else "")


def _listed(title: str, lines: Iterable[str]) -> Table:
    table = Table.grid(padding=(0, 2))
    for at, line in enumerate(lines):
        table.add_row(Text(title if at == 0 else "", style="dim"), Text(line))
    return table


def _geometry(row: Mapping[str, Any]) -> str:
    parts = [row[key] for key in ("sockets", "cores_per_socket", "threads_per_core")]
    return UNKNOWN if parts == [None] * 3 else " x ".join(map(_known, parts))


def _times(one: int | None, other: int | None) -> str:
    return str(one * other) if one and other else UNKNOWN


def _joined(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part) or UNKNOWN


def _known(value: object) -> str:
    return UNKNOWN if value is None else str(value)
