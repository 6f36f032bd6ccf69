"""NC020: RoCE without the class that the switches keep lossless."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import SCRIPT, nccl_files
from slurmwright.rules.rule import WARNING, Fault, Place, rule


@rule(
    "NC020",
    "traffic-class-missing",
    WARNING,
    why="""Without NCCL_IB_TC RoCE traffic goes to the default queue of the switches, which mostly
        drops packets under load; the lossless class is the site's choice of DSCP times 4.""",
    fix="""NCCL_IB_TC=106 for DSCP 26; ask the network which DSCP is lossless""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        missing = file.fabric == "roce" and "NCCL_IB_TC" not in file.settings and file.path != SCRIPT
        if missing and file.value("NCCL_IB_DISABLE") != "1":
            text = "no NCCL_IB_TC: RoCE traffic goes to the default queue, which drops packets under load"
            yield Fault(text, Place(file.path))
