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
    its slurmd runs. `gpu_types` are in the order of the node's Gres. `apart` says why jobs of one GPU cannot
    run side by side here although nothing is wrong."""

    host: Host
    shape: ExpectedNode
    partition: str
    trouble: str
    alive: bool
    gpu_types: tuple[str, ...] = ()
    apart: str = ""

    @property
    def tried(self) -> bool:
        """One-GPU jobs can be tried here."""
        return not self.trouble and not self.apart

    @property
    def node(self) -> str:
        return self.host.node


def samples(machine: Machine) -> tuple[Sample, ...]:
    """One node for each shape and configuration that has GPUs, with the partition that leads to it.

    Of nodes that are alike the first is taken that takes one-GPU jobs, else the first that a job can reach.
    """
    alike: dict[tuple[ExpectedNode, str], list[Host]] = {}
    for host in machine.cast.compute:
        if host.shape is not None and host.shape.gpus:
            alike.setdefault((host.shape, host.lines), []).append(host)
    states = {node.name: node for node in jobs.nodes(machine)}
    ways = _ways(machine)
    found = []
    for (shape, _), hosts in alike.items():
        host = min(hosts, key=lambda one: _rank(ways.get(one.node)))
        partition, apart = ways.get(host.node, ("", ""))
        state = states.get(host.node)
        trouble = "" if partition else "no partition in state UP has this node, so no job can reach it"
        if state is None or not state.answered or state.refused or "DRAIN" in state.state:
            trouble = f"no job can run here: state {state.state if state else 'unknown to slurmctld'}"
        alive = state is not None and (state.answered or state.refused)
        types = tuple(kind for kind, _ in state.gpus) if state else ()
        found.append(Sample(host, shape, partition, trouble, alive, types, apart))
    return tuple(found)


def _ways(machine: Machine) -> dict[str, tuple[str, str]]:
    """Node → the partition through which one-GPU jobs reach it best, and why they cannot run side by side."""
    limits = jobs.limits(machine)
    ways: dict[str, tuple[str, str]] = {}
    for name, members in jobs.partitions(machine).items():
        apart = f"partition {name} {limits[name].apart}" if limits[name].apart else ""
        for node in members:
            if node not in ways or (ways[node][1] and not apart):
                ways[node] = (name, apart)
    return ways


def _rank(way: tuple[str, str] | None) -> int:
    return 2 if way is None else int(bool(way[1]))


def by_fault(rows: list[tuple[str, str]]) -> tuple[str, ...]:
    """(node, fault) rows → one line per fault with the folded names of its nodes."""
    nodes: dict[str, list[str]] = {}
    for node, fault in rows:
        nodes.setdefault(fault, []).append(node)
    return tuple(f"{fold(names)}: {fault}" for fault, names in nodes.items())
