"""NC017: a path level as one of the old numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.catalogue.nccl_variables import level_of
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "NC017",
    "level-as-number",
    WARNING,
    why="""NCCL_NET_GDR_LEVEL and NCCL_P2P_LEVEL were numbers once: 0 LOC, 1 PIX, 2 PXB, 3 PHB, 4
        and more SYS. Who writes 2 or 5 today mostly means something else by it.""",
    fix="""the word: LOC, PIX, PXB, PHB or SYS""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.of("NCCL_NET_GDR_LEVEL", "NCCL_P2P_LEVEL"):
            if not re.fullmatch(r"\d{1,9}", one.value):
                continue
            word = level_of(int(one.value))
            text = f"{one.shown} is an old number for {word}" + _MEANS.get((one.name, word), "")
            yield Fault(text, one.place, fix=f"{one.name}={word}, or nothing", about=one.name)


_MEANS = {
    ("NCCL_NET_GDR_LEVEL", "PXB"): ", which is about the default: it changes nothing",
    ("NCCL_NET_GDR_LEVEL", "SYS"): ": GPUDirect across sockets, which may be slower than without",
    ("NCCL_NET_GDR_LEVEL", "LOC"): ": GPUDirect is off",
    ("NCCL_P2P_LEVEL", "LOC"): ": no peer access between GPUs",
}
