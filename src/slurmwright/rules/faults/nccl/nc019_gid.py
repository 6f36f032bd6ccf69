"""NC019: a fixed index into a table that changes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.rule import INFO, WARNING, Fault, rule


@rule(
    "NC019",
    "gid-fixed",
    WARNING,
    why="""The GID table of a port changes with addresses, bonds, VLANs and containers; from 2.21 on
        NCCL finds the RoCE v2 entry by itself, by NCCL_IB_ADDR_FAMILY and NCCL_IB_ADDR_RANGE, which
        a fixed index switches off.""",
    fix="""take NCCL_IB_GID_INDEX out from NCCL 2.21 on""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.of("NCCL_IB_GID_INDEX"):
            if not re.fullmatch(r"\d{1,4}", one.value):
                continue
            beside = [other.name for other in file.of(*_AUTO)]
            if beside:
                text = f"{one.shown} switches {' and '.join(beside)} off"
                yield Fault(text, one.place, about="beside")
            elif file.fabric == "roce" and file.version.at_least("2.21"):
                text = f"{one.shown} is fixed; NCCL {file.version} finds the RoCE v2 address by itself"
                yield Fault(text, one.place, severity=INFO, about="fixed")


_AUTO = ("NCCL_IB_ADDR_FAMILY", "NCCL_IB_ADDR_RANGE", "NCCL_IB_ROCE_VERSION_NUM")
