"""The table of what hosts of one type share: how each trait is read from facts, and what it is called.

A trait is None where nobody looked; such a host is not judged by it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

from slurmwright.catalogue.node_types import NodeType
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.finding import Severity
from slurmwright.model.facts import HostFacts
from slurmwright.model.own_type_checks import normal_pci, numa_count

Value = Hashable


@dataclass(frozen=True)
class Trait:
    """`of` reads it from facts, `said` from the node type (None where the catalogue does not know)."""

    rule: str
    name: str
    severity: Severity
    noun: str
    of: Callable[[HostFacts], Value | None]
    fix: str
    said: Callable[[NodeType], Value | None] = lambda _: None


def _cores(facts: HostFacts) -> int | None:
    if facts.cpu is None:
        return None
    return sum(len(parse_cpus(node.cpus)) for node in facts.cpu.numa) // facts.cpu.threads_per_core


def _said_cores(kind: NodeType) -> int | None:
    sockets, each = kind.cpu.sockets, kind.cpu.cores_per_socket
    return sockets * each if sockets and each else None


def _models(facts: HostFacts) -> Value | None:
    """The models, each once: how many there are is another trait."""
    models = {gpu.model for gpu in facts.gpus or ()}
    return None if not models or None in models else " and ".join(sorted(map(str, models)))


def _gpu_memory(facts: HostFacts) -> Value | None:
    sizes = {gpu.memory_mb for gpu in facts.gpus or ()}
    return (
        None if not sizes or None in sizes else " and ".join(f"{size} MiB" for size in sorted(sizes, key=str))
    )


def _minors(facts: HostFacts) -> Value | None:
    if not facts.gpus:
        return None
    ordered = sorted(facts.gpus, key=lambda gpu: normal_pci(gpu.pci))
    return ", ".join(f"{normal_pci(gpu.pci)}={gpu.minor}" for gpu in ordered)


def _places(facts: HostFacts) -> Value | None:
    if not facts.gpus or any(gpu.numa is None for gpu in facts.gpus):
        return None
    return ", ".join(f"{pci}={numa}" for pci, numa in sorted((normal_pci(g.pci), g.numa) for g in facts.gpus))


def _gpu_firmware(facts: HostFacts) -> Value | None:
    found = {gpu.firmware for gpu in facts.gpus or () if gpu.firmware}
    return " and ".join(sorted(found)) or None


def _nic_firmware(facts: HostFacts) -> Value | None:
    found = [f"{nic.name}={nic.firmware}" for nic in facts.nics or () if nic.firmware]
    return ", ".join(found) or None


_MEND = "drain the host until it is mended, or describe it with a type of its own"
_BIOS = "set the BIOS as on its siblings, or describe the host with a type of its own"
_SAME = "install what its siblings run"

#: What is compared as one value; counts, matrices and rates have functions of their own in `judge_hosts`.
TRAITS = (
    Trait("FA002", "gpu-model-differs", Severity.ERROR, "GPU model", _models, _MEND),
    Trait("FA003", "gpu-memory-differs", Severity.ERROR, "GPU memory", _gpu_memory, _MEND),
    Trait(
        "FA007",
        "smt-differs",
        Severity.ERROR,
        "threads per core",
        lambda facts: facts.cpu.threads_per_core if facts.cpu else None,
        _BIOS,
        lambda kind: kind.cpu.threads_per_core,
    ),
    Trait(
        "FA008",
        "nps-differs",
        Severity.ERROR,
        "NUMA nodes with CPUs",
        lambda facts: len(facts.cpu.numa) if facts.cpu else None,
        _BIOS,
        numa_count,
    ),
    Trait("FA009", "cores-differ", Severity.ERROR, "cores", _cores, _MEND, _said_cores),
    Trait(
        "FA010",
        "minors-in-another-order",
        Severity.WARNING,
        "device minors",
        _minors,
        "nothing if render writes its lines from facts; a gres.conf by hand needs a line of its own for it",
    ),
    Trait(
        "FA011",
        "gpu-at-another-numa-node",
        Severity.ERROR,
        "GPUs at NUMA nodes",
        _places,
        "look for a card in another slot, or a BIOS setting that differs",
    ),
    Trait(
        "FA014",
        "driver-differs",
        Severity.WARNING,
        "NVIDIA driver",
        lambda facts: facts.system.driver if facts.system else None,
        _SAME,
    ),
    Trait("FA015", "gpu-firmware-differs", Severity.WARNING, "GPU firmware", _gpu_firmware, _SAME),
    Trait("FA016", "nic-firmware-differs", Severity.WARNING, "NIC firmware", _nic_firmware, _SAME),
)
