"""Which nodes a scenario tries: the first of each hardware shape and of each way it is configured."""

from __future__ import annotations

from dataclasses import dataclass

from slurmwright.core.hosts import fold
from slurmwright.rehearse.cast import Host
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs


@dataclass(frozen=True)
class Sample:
    """One node to try jobs on. `partition` is "" where no job can reach it, `trouble` says why not; `alive`:
    its slurmd runs. `gpu_types` are in the order of the node's Gres."""

    host: Host
    shape: ExpectedNode
    partition: str
    trouble: str
    alive: bool
    gpu_types: tuple[str, ...] = ()

    @property
    def node(self) -> str:
        return self.host.node


def samples(machine: Machine) -> tuple[Sample, ...]:
    """One node for each shape and configuration that has GPUs, with the partition that leads to it."""
    first: dict[tuple[ExpectedNode, str], Host] = {}
    for host in machine.cast.compute:
        if host.shape is not None and host.shape.gpus:
            first.setdefault((host.shape, host.lines), host)
    states = {node.name: node for node in jobs.nodes(machine)}
    partitions = jobs.partitions(machine)
    found = []
    for (shape, _), host in first.items():
        partition = next((name for name, members in partitions.items() if host.node in members), "")
        state = states.get(host.node)
        trouble = "" if partition else "no partition in state UP has this node, so no job can reach it"
        if state is None or not state.answered or state.refused or "DRAIN" in state.state:
            trouble = f"no job can run here: state {state.state if state else 'unknown to slurmctld'}"
        alive = state is not None and (state.answered or state.refused)
        types = tuple(kind for kind, _ in state.gpus) if state else ()
        found.append(Sample(host, shape, partition, trouble, alive, types))
    return tuple(found)


def by_fault(rows: list[tuple[str, str]]) -> tuple[str, ...]:
    """(node, fault) rows → one line per fault with the folded names of its nodes."""
    nodes: dict[str, list[str]] = {}
    for node, fault in rows:
        nodes.setdefault(fault, []).append(node)
    return tuple(f"{fold(names)}: {fault}" for fault, names in nodes.items())
