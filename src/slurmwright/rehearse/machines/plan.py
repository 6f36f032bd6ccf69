"""Turns a cluster into the guests that stand for it: one server, and a few compute guests of each node type.

The first nodes of a type in the order of cluster.yaml get a guest. The server is the first controller; it is
database and login host too, whatever cluster.yaml says of those.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from slurmwright.catalogue.node_types import NodeType, gpu_model
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.model.host_gpus import HostGpu, host_gpus
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machines.seed import Gpu
from slurmwright.rehearse.machines.shape import Shape, shape_of


@dataclass(frozen=True)
class NodeGuest:
    """One compute guest: what its node has, what the guest shows of it, its GPUs in PCI order."""

    host: str
    type: NodeType
    expected: ExpectedNode
    shape: Shape
    gpus: tuple[Gpu, ...]


@dataclass(frozen=True)
class Plan:
    """`moved` are the database and login hosts whose part the server plays."""

    server: str
    moved: tuple[str, ...]
    nodes: tuple[NodeGuest, ...]

    @property
    def guests(self) -> tuple[str, ...]:
        return self.server, *(node.host for node in self.nodes)


def plan(
    cluster: Cluster, facts: Mapping[str, HostFacts], expected: Mapping[str, ExpectedNode], count: int
) -> Plan:
    """`count` compute guests of each node type, fewer where the cluster has fewer nodes."""
    control = cluster.control
    server = control.controllers[0].host
    parts = ((control.database,) if control.database else ()) + control.login
    moved = tuple(dict.fromkeys(part.host for part in parts if part.host != server))
    nodes: list[NodeGuest] = []
    for group in cluster.nodes:
        node_type = cluster.node_types[group.type]
        exceptions = group.differing()
        for host in group.hosts:
            if sum(one.type.name == node_type.name for one in nodes) == count:
                break
            if host == server:
                continue
            found = host_gpus(node_type, group, exceptions.get(host), facts.get(host))
            gpus = tuple(sorted(found, key=lambda gpu: gpu.index))
            shape = shape_of(node_type, expected[host], tuple(gpu.index for gpu in gpus))
            own = tuple(_stand_in(node_type, gpu) for gpu in gpus)
            nodes.append(NodeGuest(host, node_type, expected[host], shape, own))
    return Plan(server, moved, tuple(nodes))


def _stand_in(node_type: NodeType, gpu: HostGpu) -> Gpu:
    model = gpu_model(node_type.gpu.model or "")
    if model.vendor != "nvidia":
        raise InputError.of(
            f"node type '{node_type.name}' has {model.name} GPUs, and guests have stand-ins for NVIDIA's "
            "only; rehearse with --engine processes"
        )
    caps = tuple(cap for one in gpu.instances for cap in one.caps or ())
    return Gpu(gpu.minor, model.nvml_name, caps)
