"""Finds what does not fit together inside one node type that a file describes."""

from __future__ import annotations

import re

from slurmwright.catalogue import node_types as catalogue
from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.errors import InputError
from slurmwright.model.faults import Faults
from slurmwright.model.plain_words import short
from slurmwright.model.yaml_source import Where

PCI = re.compile(r"[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-1][0-9a-fA-F]\.[0-7]\Z")


def check(faults: Faults, where: Where, node_type: NodeType) -> None:
    """Note every fault that needs more than one field of the type to see."""
    _check_division(faults, where, node_type)
    _check_gpu_model(faults, where, node_type)
    _check_count(faults, where, node_type)
    _check_gpus(faults, where, node_type)


def numa_count(node_type: NodeType) -> int | None:
    """NUMA nodes with CPUs, None while a fact is unknown."""
    cpu = node_type.cpu
    return cpu.sockets * cpu.numa_per_socket if cpu.sockets and cpu.numa_per_socket else None


def normal_pci(address: str) -> str:
    """`00000000:1B:00.0` (nvidia-smi) and `0000:1b:00.0` (sysfs) are one address."""
    domain, _, rest = address.lower().partition(":")
    return f"{int(domain, 16):04x}:{rest}"


def _check_division(faults: Faults, where: Where, node_type: NodeType) -> None:
    cores, parts = node_type.cpu.cores_per_socket, node_type.cpu.numa_per_socket
    if cores and parts and cores % parts:
        faults.add(
            (*where, "cpu", "numa_per_socket"),
            f"cpu.numa_per_socket is {parts}, which does not divide cpu.cores_per_socket, {cores}",
        )


def _check_gpu_model(faults: Faults, where: Where, node_type: NodeType) -> None:
    if node_type.gpu.model is None:
        return
    try:
        catalogue.gpu_model(node_type.gpu.model)
    except InputError as error:
        faults.add((*where, "gpu", "model"), error.problems[0].message)


def _check_count(faults: Faults, where: Where, node_type: NodeType) -> None:
    count, listed = node_type.gpu.count, len(node_type.gpus)
    if listed and count != listed:
        given = faults.source.spot((*where, "gpu", "count")) is not None
        faults.add(
            (*where, "gpu", "count") if given else (*where, "gpus"),
            f"gpu.count is {count} but gpus lists {listed}; list all of them or correct the count",
        )


def _check_gpus(faults: Faults, where: Where, node_type: NodeType) -> None:
    numa = numa_count(node_type)
    indexes: dict[int, int] = {}
    addresses: dict[str, int] = {}
    for at, gpu in enumerate(node_type.gpus):
        place = (*where, "gpus", at)
        if gpu.index in indexes:
            faults.add(
                (*place, "index"), f"GPU index {gpu.index} stands twice, first as entry {indexes[gpu.index]}"
            )
        indexes.setdefault(gpu.index, at + 1)
        if numa is not None and gpu.numa is not None and gpu.numa >= numa:
            faults.add(
                (*place, "numa"),
                f"numa is {gpu.numa} but the type has {numa} NUMA nodes; expected 0 to {numa - 1}",
            )
        if gpu.pci is None:
            continue
        if not PCI.match(gpu.pci):
            faults.add(
                (*place, "pci"),
                f"'{short(gpu.pci)}' is no PCI address; expected domain:bus:device.function in quotes, "
                'for example "0000:1b:00.0"',
            )
            continue
        first = addresses.setdefault(normal_pci(gpu.pci), at)
        if first != at:
            faults.add((*place, "pci"), f"PCI address {gpu.pci} is already that of entry {first + 1}")
