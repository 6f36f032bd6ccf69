"""Verdict `registered`: every node registers with the CPUs and GPUs of its hardware, and stays idle."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable

from slurmwright.core.release import Release
from slurmwright.rehearse.cast import Host
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios.grouping import by_text
from slurmwright.rehearse.slurm_text import (
    NodeState,
    error_lines,
    first_fatal,
    read_hardware,
    read_nodes,
    read_running,
)
from slurmwright.rehearse.values import NodeCount, Verdict

NAME = "registered"
#: Seconds that all nodes must stay idle after the last one registered. A node that slurmctld refuses turns
#: INVALID with its registration, so this only has to outlast slurmctld's own next look.
_HOLD_S = 2.0
#: Seconds without another node, plus a few for many: slurmd tries again each second or two.
_STILL_S = 20.0


def wait_for_nodes(
    machine: Machine, hosts: Collection[Host], progress: Callable[[int], None]
) -> tuple[NodeState, ...]:
    """Poll until each of these hosts has registered, was refused or gave up, or until nothing moves any more;
    gives the last look at all nodes. A slow machine is no fault: only standing still ends the wait."""
    total = len(hosts)
    quiet_since, seen = time.monotonic(), -1
    while True:
        nodes = read_nodes(machine.answer("scontrol", "show", "node", "-o"))
        now = time.monotonic()
        settled = {node.name for node in nodes if node.answered or node.refused}
        silent = [host.node for host in hosts if host.node not in settled]
        waiting = len(silent) - len(machine.start_failures(silent))
        progress(total - waiting)
        if waiting != seen:
            quiet_since, seen = now, waiting
        if waiting <= 0 or now - quiet_since > _STILL_S + total * 0.02:
            return nodes
        time.sleep(0.3)


def judge(machine: Machine, release: Release) -> tuple[Verdict, NodeCount]:
    """Compare what slurmctld holds with the hardware's own numbers, `_HOLD_S` seconds after the last news."""
    time.sleep(_HOLD_S)
    last = read_nodes(machine.answer("scontrol", "show", "node", "-o"))
    shapes = {host.node: host.shape for host in machine.cast.compute if host.shape is not None}
    names = {host.node for host in machine.cast.compute}

    def group(rows: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        return by_text(rows, names)

    count = NodeCount(
        len(shapes) + len(machine.cast.nodes_missing),
        sum(node.answered for node in last if node.name in shapes),
        sum(node.idle for node in last if node.name in shapes),
    )
    hardware_faults, hardware_evidence = _hardware(machine, shapes, release)
    bad = [
        *group(
            (name, "is in cluster.yaml, but no NodeName line names it") for name in machine.cast.nodes_missing
        ),
        *group(
            (name, "has a NodeName line, but cluster.yaml does not know it")
            for name in machine.cast.nodes_unknown
        ),
        *group((node, f"slurmd did not start: {why}") for node, why in _start_failures(machine, last)),
        *group(_state_faults(last, shapes)),
        *group(_shape_faults(last, shapes)),
        *hardware_faults,
    ]
    good = [f"{count.registered} of {count.total} nodes registered, {count.idle} idle"]
    good += group(
        (node, f"{shape.type}: {_spell(_wanted(shape))}, as the hardware has it")
        for node, shape in shapes.items()
    )
    good += hardware_evidence
    return Verdict(NAME, not bad and count.idle == count.total, tuple(bad or good)), count


def _start_failures(machine: Machine, nodes: Iterable[NodeState]) -> Iterable[tuple[str, str]]:
    there = {node.name for node in nodes if node.answered or node.refused}
    silent = [host.node for host in machine.cast.compute if host.node not in there]
    for node, text in machine.start_failures(silent).items():
        yield node, first_fatal(error_lines(text) or text.splitlines())


def _state_faults(nodes: Collection[NodeState], ours: Collection[str]) -> Iterable[tuple[str, str]]:
    shown = {node.name for node in nodes}
    yield from ((name, "slurmctld does not show this node") for name in ours if name not in shown)
    for node in nodes:
        if node.name in ours and not node.idle:
            yield node.name, f"state {node.state}" + (f", reason: {node.reason}" if node.reason else "")


def _shape_faults(nodes: Iterable[NodeState], shapes: dict[str, ExpectedNode]) -> Iterable[tuple[str, str]]:
    for node in nodes:
        shape = shapes.get(node.name)
        if shape is None:
            continue
        wanted, found = _wanted(shape), _found(node)
        if wanted != found:
            yield (
                node.name,
                f"Slurm schedules {_spell(found)}; the hardware ({shape.type}) has {_spell(wanted)}",
            )


def _hardware(
    machine: Machine, shapes: dict[str, ExpectedNode], release: Release
) -> tuple[list[str], list[str]]:
    """(faults, evidence): does the slurmd of each shape see the layout that the type describes?

    `slurmd -C` reads no slurm.conf: before 25.11 it shows packages only, from 25.11 it takes the node's own
    parameters. What slurmd found under the bundle's configuration is the line it logs when it starts.
    """
    faults: list[str] = []
    evidence: list[str] = []
    first = {shape: node for node, shape in reversed(shapes.items())}
    for shape, node in reversed(first.items()):
        split = shape.layout.splits_sockets
        options = ["--parameters=numa_node_as_socket"] if split and release.at_least("25.11") else []
        seen = read_hardware(machine.on_node(node, ["slurmd", "-C", *options]).out)
        wanted = _as_printed(shape, bool(options))
        found = {key: seen.get(key, 0) for key in wanted}
        if found != wanted:
            faults.append(f"{node}: `slurmd -C` prints {found}; the type {shape.type} has {wanted}")
        evidence.append(f"{node}: slurmd -C prints {_spell_keys(found)}")
        host = next(host for host in machine.cast.compute if host.node == node)
        running = read_running(machine.node_log(host))
        if running:
            evidence.append(f"{node}: slurmd runs with {_spell_keys(running)}")
    return faults, evidence


def _as_printed(shape: ExpectedNode, virtual: bool) -> dict[str, int]:
    sockets, cores = shape.layout.slurm_sockets(virtual)
    return {
        "CPUs": shape.layout.cpus,
        "SocketsPerBoard": sockets,
        "CoresPerSocket": cores,
        "ThreadsPerCore": shape.layout.threads,
    }


def _spell_keys(numbers: dict[str, int]) -> str:
    return " ".join(f"{key}={value}" for key, value in numbers.items())


_Numbers = tuple[int, int, int, int, tuple[str, ...]]


def _wanted(shape: ExpectedNode) -> _Numbers:
    sockets, cores = shape.layout.slurm_sockets(shape.layout.splits_sockets)
    gres = _gres(shape.gpu_types, shape.shared)
    return sockets, cores, shape.layout.threads, shape.layout.cpus, gres


def _found(node: NodeState) -> _Numbers:
    return node.sockets, node.cores, node.threads, node.cpus, _gres(node.gpus, node.shared)


def _gres(gpus: tuple[tuple[str, int], ...], shared: tuple[str, int] | None) -> tuple[str, ...]:
    rows = sorted(f"gpu:{kind}:{count}" if kind else f"gpu:{count}" for kind, count in gpus)
    return (*rows, *([f"{shared[0]}:{shared[1]}"] if shared else []))


def _spell(numbers: _Numbers) -> str:
    sockets, cores, threads, cpus, gres = numbers
    shown = ",".join(gres) or "no GPU"
    return f"Sockets={sockets} CoresPerSocket={cores} ThreadsPerCore={threads} CPUs={cpus} Gres={shown}"
