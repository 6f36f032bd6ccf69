"""Turns core reservations of a node line into the cores that jobs do not get, and finds those that clash.

Slurm takes the highest core of each socket in turn, beginning with the last socket, for CoreSpecCount
(slurm.conf(5)); CpuSpecList names CPUs (core times threads plus thread) and takes their whole cores.
RestrictedCoresPerGPU keeps cores of a GPU's socket for GPU jobs and must not reach into either.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster
from slurmwright.render.described import Described, Shape
from slurmwright.render.sockets import numa_as_socket


def reserved_cores(shape: Shape) -> frozenset[int]:
    """The cores of a node that no job gets."""
    # The manual spells it CpuSpecList, Slurm's source CPUSpecList.
    listed = next((value for key, value in shape.options if key.lower() == "cpuspeclist"), None)
    if listed is not None:
        cpus = parse_cpus(listed)
        return frozenset(cpu // shape.layout.threads for cpu in cpus)
    sockets, per_socket = shape.layout.slurm_sockets(numa_as_socket(shape))
    turns = (
        socket * per_socket + core
        for core in range(per_socket - 1, -1, -1)
        for socket in range(sockets - 1, -1, -1)
    )
    return frozenset(core for _, core in zip(range(shape.number("CoreSpecCount")), turns, strict=False))


def free_in_socket(shape: Shape, numa: int) -> int:
    """Cores that jobs can get on the Slurm socket of a NUMA node."""
    first, last = shape.layout.socket_cores(numa, numa_as_socket(shape))
    return len(set(range(first, last + 1)) - reserved_cores(shape))


def check_reservations(cluster: Cluster, rows: Iterable[Described]) -> None:
    """Raise InputError for reservations that Slurm would refuse or that leave nothing to jobs."""
    problems = [
        Problem("", 0, 0, f"{fold(row.hosts)}: {text}", ("nodes", _group_of(cluster, row), "options"))
        for row in rows
        for text in _faults(row.shape)
    ]
    if problems:
        raise InputError(problems)


def _group_of(cluster: Cluster, row: Described) -> int:
    return next(at for at, group in enumerate(cluster.nodes) if row.hosts[0] in group.hosts)


def _faults(shape: Shape) -> Iterator[str]:
    spare = shape.number("MemSpecLimit")
    if spare >= shape.memory_mb:
        yield f"MemSpecLimit={spare} leaves nothing of RealMemory={shape.memory_mb} to jobs"
    if len(reserved_cores(shape)) >= shape.layout.cores:
        yield f"all {shape.layout.cores} cores are kept from jobs; leave some"
    kept = shape.number("RestrictedCoresPerGPU")
    if not kept:
        return
    minors = {device.minor: device.numa for device in shape.devices}
    for numa, gpus in sorted(Counter(numa for numa in minors.values() if numa is not None).items()):
        free = free_in_socket(shape, numa)
        if kept * gpus > free:
            yield (
                f"RestrictedCoresPerGPU={kept} for {gpus} GPUs of NUMA node {numa} takes {kept * gpus} "
                f"cores, but its socket has {free} that are not reserved"
            )
