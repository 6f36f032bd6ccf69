"""NC004: NCCL_IB_HCA is a prefix, and more adapters than meant begin with it."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_seen import nccl_settings
from slurmwright.rules.rule import WARNING, Fault, Scope, rule


@rule(
    "NC004",
    "adapters-by-prefix",
    WARNING,
    scope=Scope.FACTS,
    why="""NCCL_IB_HCA is a list of prefixes: mlx5_1 means mlx5_10 to mlx5_17 as well, which are often the
        storage network. NCCL then sends half of its traffic where nobody answers, or slowly.""",
    fix="NCCL_IB_HCA==mlx5_1: the leading = holds for the whole list",
    references=(
        "https://github.com/NVIDIA/nccl/issues/236",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    found = nccl_settings(seen).get("NCCL_IB_HCA")
    output = seen.capture("ls_infiniband.txt", "ibdev2netdev.txt")
    if found is None or output is None or found.text.startswith(("=", "^")):
        return
    names = [line.split()[0] for line in output.text.split("\n") if line.strip()]
    listed = [word.partition(":")[0] for word in found.text.split(",") if word]
    extra = [name for name in names if name not in listed and any(name.startswith(word) for word in listed)]
    exact = [word for word in listed if word in names]
    if extra and exact:
        yield Fault(
            f"{found.text} means {', '.join(extra[:4])} too; for {exact[0]} alone write "
            f"NCCL_IB_HCA=={found.text}",
            found.place,
            fix=f"NCCL_IB_HCA=={found.text}",
        )
    lost = [word for word in listed if not any(name.startswith(word) for name in names)]
    if lost:
        yield Fault(
            f"no adapter begins with {lost[0]}; there are {', '.join(names[:6])}", found.place, about="none"
        )
