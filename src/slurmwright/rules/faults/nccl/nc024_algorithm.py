"""NC024: an algorithm or protocol for all messages."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_settings import nccl_files
from slurmwright.rules.nccl_values import wrong_tokens
from slurmwright.rules.rule import ERROR, INFO, WARNING, Fault, rule


@rule(
    "NC024",
    "algorithm-fixed",
    WARNING,
    why="""A fixed algorithm or protocol takes NVLS (480 to 370 GB/s in a node of H100), Tree, LL
        and LL128 from every job: small messages become several times slower. From 2.24 on a list
        without an operation's only choice fails.""",
    fix="""take NCCL_ALGO and NCCL_PROTO out; they are for measuring""",
    references=(
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
        "NVIDIA/nccl src/misc/param.cc, every release tag 2.3.5 to 2.30.7",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    for file in nccl_files(seen):
        for one in file.of("NCCL_ALGO", "NCCL_PROTO"):
            if file.fabric == "efa":
                continue
            wrong = wrong_tokens(one.name, one.value)
            if wrong:
                fails = " and fails at the start" if file.version.at_least("2.24") else ""
                text = f"{one.shown}: NCCL {file.version} knows no {', '.join(wrong)}{fails}"
                yield Fault(text, one.place, severity=ERROR, about=f"{one.name} words")
            both = file.value("NCCL_ALGO").lower() == "ring" and file.value("NCCL_PROTO").lower() == "simple"
            text = f"{one.shown} is fixed for every size; right for measuring a network, wrong for training"
            yield Fault(text, one.place, severity=None if file.permanent or both else INFO, about=one.name)
