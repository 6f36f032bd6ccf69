"""Node types: what a machine is made of, read from one YAML file per type under `data/node_types/`.

A fact that nobody has published is None here and stays None; who needs it asks the admin or discovery for
it. `numa_per_socket` and the GPUs' `numa` are BIOS choices: the catalogue holds the factory setting. The
NUMA count means NUMA nodes *with CPUs*: the memory-only nodes of Grace machines are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal

from pydantic import Field

from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.core.errors import InputError, did_you_mean

TYPES = DATA / "node_types"

Numbering = Literal["contiguous", "interleaved"]


class Cpu(Row):
    """Processor layout. `numbering` says how the operating system numbers CPUs:

    `contiguous` counts socket by socket and puts SMT siblings at +(sockets × cores_per_socket);
    `interleaved` deals them out over the sockets (even CPUs on socket 0, odd on socket 1), siblings likewise.
    """

    model: str | None = None
    sockets: int | None = Field(None, ge=1, le=64)
    cores_per_socket: int | None = Field(None, ge=1, le=1024)
    threads_per_core: int | None = Field(None, ge=1, le=8)
    numa_per_socket: int | None = Field(None, ge=1, le=16)
    numbering: Numbering | None = None
    bios: str | None = None


class Memory(Row):
    """Host memory. `real_memory_mb` is what `slurmd -C` printed on such a machine (MiB), None when not
    public; `cpu_memory_mb` is the part attached to the CPUs where the total includes GPU memory (Grace)."""

    nominal_gib: int | None = Field(None, ge=1)
    real_memory_mb: int | None = Field(None, ge=1)
    cpu_memory_mb: int | None = Field(None, ge=1)
    note: str | None = None


class GpuChoice(Row):
    """Which GPU model (a key of the GPU catalogue) and how many."""

    model: str | None = None
    count: int = Field(0, ge=0, le=64)


class Gpu(Row):
    """One GPU. `index` is the NVML order (PCI bus order), which is not the minor of /dev/nvidiaN."""

    index: int = Field(ge=0, le=63)
    pci: str | None = None
    numa: int | None = Field(None, ge=0)
    nics: tuple[str, ...] = ()
    gpu_numa_id: int | None = None


class Nic(Row):
    """One network device; `gpus` are the indexes of the GPUs below the same PCIe switch."""

    name: str
    pci: str | None = None
    netdev: str | None = None
    role: str | None = None
    numa: int | None = None
    gpus: tuple[int, ...] = ()
    rate_gbps: int | None = None
    model: str | None = None
    note: str | None = None


class NvLink(Row):
    """NVLink of one node; `block_size` counts nodes of one NVLink domain (NVL72: 18)."""

    gen: str | None = None
    label: str | None = None
    nvswitch: str | None = None
    nvswitch_gen: str | None = None
    block_size: int | None = None
    note: str | None = None


class Network(Row):
    """Network cards of one node in words and as a list, where the list is known."""

    compute_model: str | None = None
    compute_count: int | None = None
    compute_rate_gbps: int | None = None
    storage_model: str | None = None
    storage_count: int | None = None
    devices: tuple[Nic, ...] = ()


class NodeType(Row):
    """One hardware description; `source` says where the facts come from, `unsure` which are not certain."""

    name: str
    description: str = ""
    arch: Literal["x86_64", "aarch64"] | None = None
    cloud: str | None = None
    cpu: Cpu = Cpu()
    memory: Memory = Memory()
    gpu: GpuChoice = GpuChoice()
    gpus: tuple[Gpu, ...] = ()
    nvlink: NvLink = NvLink()
    pcie_gen: int | None = None
    pcie_note: str | None = None
    network: Network = Network()
    local_scratch: str | None = None
    seen_slurm_line: str | None = None
    note: str | None = None
    source: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


class GpuModel(Row):
    """One GPU model. `slurm_type` is what we write as Type=: a lower-case part of `autodetect_type`."""

    name: str
    vendor: Literal["nvidia", "amd"]
    nvml_name: str
    slurm_type: str
    autodetect_type: str
    memory_mib: int | None = None
    pci_id: str | None = None
    nvlink: str | None = None
    pcie_gen: int | None = None
    note: str | None = None


def node_type_names() -> tuple[str, ...]:
    """Names of all node types, sorted; they are the names of the files under `data/node_types/`."""
    return tuple(sorted(path.name.removesuffix(".yaml") for path in TYPES.glob("*.yaml")))


@cache
def load_node_type(name: str) -> NodeType:
    """The node type `name`, from its own file only; raises InputError with the nearest name."""
    names = node_type_names()
    if name not in names:
        raise InputError.of(f"node type '{name}' is not in the catalogue; {did_you_mean(name, names)}")
    path = TYPES / f"{name}.yaml"
    return row(NodeType, load(path), path, name=name)


@cache
def gpu_models() -> Mapping[str, GpuModel]:
    """All GPU models by name."""
    path = DATA / "gpu_models.yaml"
    rows = {name: row(GpuModel, raw, path, name, name=name) for name, raw in load(path).items()}
    return MappingProxyType(rows)


def gpu_model(name: str) -> GpuModel:
    """The GPU model `name`; raises InputError with the nearest name."""
    models = gpu_models()
    if name not in models:
        raise InputError.of(f"GPU model '{name}' is not in the catalogue; {did_you_mean(name, models)}")
    return models[name]
