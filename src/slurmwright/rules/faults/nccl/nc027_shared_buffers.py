"""NC027: buffers for each peer in place of a pool."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.rule import WARNING, Fault, rule


@rule(
    "NC027",
    "shared-buffers-off",
    WARNING,
    why="""Without the shared pool each remote peer of send and receive gets buffers of its own:
        memory grows with the job until GPUs run out, and all-reduce gains nothing.""",
    fix="""take NCCL_NET_SHARED_BUFFERS out""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.of("NCCL_NET_SHARED_BUFFERS"):
            if one.value == "0":
                text = f"{one.shown}: GPU memory for each remote peer, and no faster all-reduce"
                yield Fault(text, one.place)
