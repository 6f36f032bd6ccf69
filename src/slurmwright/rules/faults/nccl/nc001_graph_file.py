"""NC001: a file for all jobs fixes the rings for one number of GPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_seen import nccl_settings
from slurmwright.rules.rule import ERROR, WARNING, Fault, Scope, rule


@rule(
    "NC001",
    "graph-file-for-all-jobs",
    ERROR,
    scope=Scope.CLUSTER,
    why="""NCCL_GRAPH_FILE fixes rings and trees for exactly the GPUs it was made with. In the file that
        every job reads, jobs with another number of GPUs fail or are slow.""",
    fix="remove NCCL_GRAPH_FILE; NCCL_TOPO_FILE alone, for each machine type, lets NCCL search for itself",
    references=(
        "https://github.com/NVIDIA/nccl/issues/1008",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html",
    ),
)
def check(seen: Evidence) -> Iterator[Fault]:
    found = nccl_settings(seen).get("NCCL_GRAPH_FILE")
    if found is None:
        return
    counts = _gpu_counts(seen)
    graph = seen.files.get(found.text)
    made_for = graph.text.count("<gpu ") if graph else 0
    number = re.search(r"(\d{1,2})\D*\Z", found.text)
    made_for = made_for or (int(number[1]) if number else 0)
    differs = sorted(count for count in counts if made_for and count != made_for)
    text = f"NCCL_GRAPH_FILE={found.text} fixes the rings of every job"
    if differs:
        text += f": it is made for {made_for} GPUs, and nodes here have {differs[0]}"
    yield Fault(text, found.place, severity=None if differs else WARNING)


def _gpu_counts(seen: Evidence) -> set[int]:
    counts = {line.count("gpu") for line in seen.config.nodes if line.count("gpu")}
    nodes = seen.inventory.get("nodes")
    for body in nodes.values() if isinstance(nodes, Mapping) else ():
        gpus = body.get("gpus") if isinstance(body, Mapping) else None
        count = gpus.get("count") if isinstance(gpus, Mapping) else None
        counts |= {count} if isinstance(count, int) else set()
    return counts
