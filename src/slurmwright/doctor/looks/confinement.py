"""What confines jobs to their GPUs and cores: Slurm's files of a node against its own devices.

Only a host that was looked at as a whole is judged by what is not there; in a folder of captured outputs a
file may just not have been captured.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told
from slurmwright.model.facts import HostFacts
from slurmwright.model.own_type_checks import normal_pci
from slurmwright.rules.gres_lines import GresLine
from slurmwright.topology.cpus import CpuLayout, parse_cpus

_DEVICE = re.compile(
    r"^c([rw-]{2})[x-]([rw-]{2})[x-]([rw-]{2})\S*\s.*\s(/dev/nvidia\d{1,3})\s*$", re.MULTILINE
)
_OPEN = "every job can open every GPU"


def filters(host: Host) -> Iterator[Told]:
    """The device filter: task/cgroup, and ConstrainDevices."""
    config = host.config
    if config.slurm is None or not config.has_gpus or (host.whole and host.name not in config.node_index):
        return
    values = [line.statement.pairs[0].value for line in config.slurm.all("TaskPlugin")]
    if config.setting("TaskPlugin") is not None and "task/cgroup" not in config.task_plugins:
        place = config.place("TaskPlugin")
        if any("task/cgroup" in value.lower() for value in values[:-1]):
            text = f"a later line sets TaskPlugin again without task/cgroup, and the last one counts: {_OPEN}"
            yield Told("DR086", text, place=place)
        else:
            yield Told("DR085", f"task/cgroup is missing from TaskPlugin: {_OPEN}", place=place)
        return
    if config.cgroup is None:
        if host.whole and not host.has("cgroup.conf"):
            yield Told("DR087", f"cgroup.conf is missing, and nothing is confined without it: {_OPEN}")
    elif not config.truth("ConstrainDevices", "cgroup.conf"):
        said = (
            "has ConstrainDevices=no"
            if config.setting("ConstrainDevices", "cgroup.conf")
            else "does not set it"
        )
        text = f"ConstrainDevices is off, as cgroup.conf {said}: {_OPEN}"
        yield Told("DR084", text, place=config.place("ConstrainDevices", "cgroup.conf"))


def devices(host: Host) -> Iterator[Told]:
    """Device files that users may not open, and those that Slurm does not know."""
    listed = host.text("ls_dev_nvidia.txt")
    found = {row[3]: row[:3] for row in _DEVICE.findall(listed)}
    closed = sorted(path for path, modes in found.items() if modes[2] != "rw")
    if closed:
        names = ", ".join(closed[:4]) + (" …" if len(closed) > 4 else "")
        text = f"{names}: users may not open it, its mode is not 0666"
        yield Told("DR088", text)
    lines = _lines(host)
    named = {path for line in lines for path in line.files}
    left = sorted(found.keys() - named)
    if named and left and not host.config.detects(host.name):
        names = ", ".join(left)
        text = f"{names} is left out of gres.conf: Slurm denies only what it knows, so any job opens it"
        yield Told("DR089", text, place=lines[0].place)


def cores(host: Host) -> Iterator[Told]:
    """Cores= of gres.conf against the NUMA nodes of the GPUs behind its files."""
    layout = _layout(host.facts)
    if layout is None or host.facts is None:
        return
    numa = {f"/dev/nvidia{gpu.minor}": gpu.numa for gpu in host.facts.gpus or ()}
    ordered = sorted(host.facts.gpus or (), key=lambda gpu: normal_pci(gpu.pci))
    by_order = {f"/dev/nvidia{at}": gpu.numa for at, gpu in enumerate(ordered)}
    pairs = [
        (line, path, frozenset(line.cores))
        for line in _lines(host)
        if line.cores
        for path in line.files
        if numa.get(path) is not None
    ]
    ids = [line for line, path, own in pairs if _are_ids(layout, numa[path], own)]
    far = [(line, path, own) for line, path, own in pairs if not own & _cores(layout, numa[path])]
    if ids:
        text = (
            "Cores= is written as CPU ids; it takes Slurm's logical core indexes, not what nvidia-smi prints"
        )
        yield Told("DR091", text, seen=(_written(ids[0]),), place=ids[0].place)
    elif far:
        line, path, _ = far[0]
        near = sorted(_cores(layout, numa[path]))
        seen = f"{path} is on NUMA node {numa[path]}, which has the cores {near[0]}-{near[-1]}"
        if by_order != numa and all(own & _cores(layout, by_order.get(path)) for _, path, own in pairs):
            text = (
                "device numbers are in another order than the GPUs on the bus, and Cores= goes by that order"
            )
            yield Told("DR092", text, seen=(seen,), place=line.place)
        else:
            text = "Cores= of the sockets are swapped: GPUs name the cores of another NUMA node"
            yield Told("DR093", text, seen=(seen,), place=line.place)


def _written(line: GresLine) -> str:
    return " ".join(f"{pair.key}={pair.value}" for pair in line.source.statement.pairs)


def _lines(host: Host) -> tuple[GresLine, ...]:
    return tuple(line for line in host.config.gres_of(host.name) if line.name == "gpu" and line.files)


def _layout(facts: HostFacts | None) -> CpuLayout | None:
    if facts is None or facts.cpu is None:
        return None
    try:
        rows = [(node.id, node.socket, parse_cpus(node.cpus)) for node in facts.cpu.numa]
        return CpuLayout.from_lists(rows, facts.cpu.threads_per_core)
    except ValueError:
        return None


def _cores(layout: CpuLayout, numa: int | None) -> frozenset[int]:
    found: Mapping[int, frozenset[int]] = {
        node.id: frozenset(range(node.first, node.first + len(node.cores))) for node in layout.nodes
    }
    return found.get(numa if numa is not None else -1, frozenset())


def _are_ids(layout: CpuLayout, numa: int | None, own: frozenset[int]) -> bool:
    """All CPU ids of the NUMA node, or those of first threads, where these differ from its cores."""
    node = next((node for node in layout.nodes if node.id == numa), None)
    if node is None or own == _cores(layout, numa):
        return False
    every = frozenset(cpu for core in node.cores for cpu in core)
    return own in (every, frozenset(core[0] for core in node.cores))


LOOKS = (filters, devices, cores)
