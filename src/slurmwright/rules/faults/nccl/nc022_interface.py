"""NC022: a socket interface that is none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import NcclSetting, nccl_files
from slurmwright.rules.rule import ERROR, INFO, Fault, rule


@rule(
    "NC022",
    "interface-name-wrong",
    ERROR,
    why="""NCCL_SOCKET_IFNAME names IP interfaces, for the first contact and for TCP; an RDMA device
        is none, and ib0 is IPoIB: fine for the first contact, slow for data.""",
    fix="""NCCL_SOCKET_IFNAME==eth0, the interface that every node has""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.of("NCCL_SOCKET_IFNAME"):
            for word in one.value.lstrip("^=").split(","):
                yield from _word(one, word)


def _word(one: NcclSetting, word: str) -> Iterator[Fault]:
    if re.match(r"(mlx\d_|rdmap|bnxt_re|irdma|efa_)", word):
        text = f"{one.shown}: {word} is an RDMA device and no IP interface; NCCL_IB_HCA takes those"
        yield Fault(text, one.place, about=word)
    elif word == "ib0" and not one.value.startswith(("=", "^")):
        text = (
            f"{one.shown} is IPoIB: it serves the first contact where ib0 has an address on every node, and "
            "takes all data slowly should RDMA fail, which NCCL_NET=IB makes an error; it means ib01 too"
        )
        yield Fault(text, one.place, severity=INFO, fix="NCCL_SOCKET_IFNAME==ib0 and NCCL_NET=IB", about=word)
