"""NC023: RDMA, peer access or GPUDirect is off for good."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.rule import ERROR, WARNING, Fault, rule


@rule(
    "NC023",
    "transport-switched-off",
    ERROR,
    why="""A switch that was turned while looking for a fault stays behind: without RDMA everything
        goes over TCP, without peer access GPUs talk through host memory, without GPUDirect every
        byte is copied once more.""",
    fix="""take the line out""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for name, values, text in _OFF:
            for one in file.of(name):
                if one.value not in values or (name in _RDMA_ONLY and file.fabric in ("tcp", "efa")):
                    continue
                severity = WARNING if name in _RDMA_ONLY and not file.fabric else None
                yield Fault(f"{one.shown}: {text}", one.place, severity=severity, about=name)


_RDMA_ONLY = ("NCCL_IB_DISABLE", "NCCL_NET_GDR_LEVEL")
_OFF = (
    ("NCCL_IB_DISABLE", ("1",), "InfiniBand and RoCE are off; all data goes over TCP"),
    ("NCCL_P2P_DISABLE", ("1",), "GPUs of one node talk through host memory, about ten times slower"),
    ("NCCL_SHM_DISABLE", ("1",), "GPUs of one node without peer access talk over the network"),
    ("NCCL_NET_GDR_LEVEL", ("LOC", "0"), "GPUDirect RDMA is off; every byte is copied through host memory"),
)
