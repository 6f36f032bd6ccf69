"""NC026: logging meant for looking for a fault."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "NC026",
    "debug-left-on",
    WARNING,
    why="""INFO writes thousands of lines from each rank, and one log file for all ranks is
        overwritten by each of them.""",
    fix="""NCCL_DEBUG=WARN, and NCCL_DEBUG_FILE with %h and %p""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.of("NCCL_DEBUG"):
            if file.permanent and one.value.upper() in ("INFO", "TRACE", "ABORT"):
                text = f"{one.shown} for every job floods the logs"
                yield Fault(text, one.place, fix="NCCL_DEBUG=WARN", about=one.name)
        for one in file.of("NCCL_DEBUG_FILE"):
            if "%p" not in one.value:
                text = f"{one.shown}: without %p every rank of a node writes over the others"
                yield Fault(text, one.place, fix=f"{one.name}={one.value}.%h.%p", about=one.name)
