"""Nodes as the examples describe them, and documents as probes on them print."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from slurmwright.model.load import load_cluster
from slurmwright.verify.documents import Document
from slurmwright.verify.expect import ExpectedNode, expected_nodes

INVENTORIES = Path(__file__).parents[2] / "inventories"


def node_of(name: str) -> ExpectedNode:
    return next(iter(expected_nodes(load_cluster(INVENTORIES / name), {}).values()))


def document(
    shape: ExpectedNode,
    opens: Iterable[int] = (),
    *,
    numa: int | None = None,
    pages: int | None = None,
    cuda: str | None = None,
    refused: str = "EPERM",
    through: str = "opened",
    memory: int | None = 256 << 20,
    rank: int = 0,
    **more: Any,
) -> Document:
    """What a task prints that opens the GPUs with these minors and runs on a core of NUMA node `numa`."""
    opens = list(opens)
    first = shape.layout.nodes[0].id if numa is None else numa
    cpus = ",".join(map(str, shape.layout.numa_node(first).cores[0]))
    counted = ",".join(map(str, range(len(opens))))
    cuda = counted if cuda is None else cuda
    env = {
        "SLURMD_NODENAME": "gpu1",
        "SLURM_PROCID": str(rank),
        **({"CUDA_VISIBLE_DEVICES": cuda} if cuda else {}),
    }
    data = {
        "format": "slurmwright/probe/1",
        "host": "gpu1",
        "env": env,
        "devices": {
            f"/dev/nvidia{gpu.minor}": {"open": through if gpu.minor in opens else refused}
            for gpu in shape.gpus
        },
        "caps": {},
        "cpus": cpus,
        "numa": {str(one.id): one.cpu_list for one in shape.layout.nodes},
        "pages": {"99": 20, str(first if pages is None else pages): 4000},
        "cgroup": {"mode": "v2", "memory_max": memory},
        "limits": {"memlock": ["unlimited", "unlimited"]},
        **more,
    }
    return Document("t", f"gpu1/1.0.{rank}/9", data)
