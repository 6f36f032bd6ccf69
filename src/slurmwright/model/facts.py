"""What discovery read from one host, as frozen values; kept as `facts/HOST.yaml` beside cluster.yaml.

A fact beats the catalogue. A fact that was not read is absent, never a default.
"""

from __future__ import annotations

from pydantic import Field

from slurmwright.model.cluster import Part

FORMAT = "slurmwright/facts/1"


class NumaFact(Part):
    """One NUMA node with CPUs: its id, its package and its OS CPU ids as a list such as `0-55,112-167`."""

    id: int = Field(ge=0)
    socket: int = Field(ge=0)
    cpus: str


class CpuFact(Part):
    """The CPU layout that the host shows: threads per core and every NUMA node that has CPUs."""

    threads_per_core: int = Field(ge=1, le=8)
    numa: tuple[NumaFact, ...] = Field(min_length=1)


class MemoryFact(Part):
    """`real_memory_mb` is MemTotal in MiB, as `slurmd -C` prints it."""

    real_memory_mb: int = Field(ge=1)


class GpuFact(Part):
    """One GPU: PCI address, the N of its /dev/nvidiaN, and its NUMA node (None where the kernel says -1)."""

    pci: str
    minor: int = Field(ge=0, le=255)
    numa: int | None = Field(None, ge=0)
    model: str | None = None


class NicFact(Part):
    """One RDMA device and where it sits."""

    name: str
    pci: str
    numa: int | None = Field(None, ge=0)


class HostFacts(Part):
    """Facts of one host; `gpus` is None when GPUs were not looked at, and empty when there are none."""

    format: str = FORMAT
    host: str
    cpu: CpuFact | None = None
    memory: MemoryFact | None = None
    gpus: tuple[GpuFact, ...] | None = None
    nics: tuple[NicFact, ...] | None = None
