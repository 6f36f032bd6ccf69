"""Turns groups, node types and facts into sets of hosts that are described alike.

A fact beats the type; the NUMA node of a GPU that the kernel does not tell (-1) is taken from the type. How
the operating system numbers its CPUs is no matter here: cores are counted in hwloc's logical order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from slurmwright.catalogue.node_types import NodeType, gpu_model, node_type_names
from slurmwright.catalogue.options import lookup
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import Cluster, HostException, NodeGroup
from slurmwright.model.facts import CpuFact, HostFacts
from slurmwright.model.host_gpus import HostGpu, host_gpus
from slurmwright.render.memory import RealMemory, group_memory, kept_memory, memory_known, said_memory
from slurmwright.topology.cpus import CpuLayout, layout_of, parse_cpus


@dataclass(frozen=True)
class Device:
    """One thing that jobs get as a GPU: a GPU, or a MIG instance of one. `minor` is N of /dev/nvidiaN; the
    NUMA node and the capability files are None only where slurmd detects GPUs itself."""

    minor: int
    numa: int | None
    profile: str = ""
    caps: tuple[int, int] | None = None


@dataclass(frozen=True)
class Shape:
    """What hosts of one line have in common. `minors_assumed`: no facts say which device number a GPU has.
    `withheld` GPUs are in the host but not given to jobs, `missing` are the indexes of those that are gone;
    `shared` is the name of the sharing resource, shard or mps, and its count on each GPU. `gres` and
    `gres_lines` are those of an imported file, where they stand in the place of what would be derived."""

    type: str
    layout: CpuLayout
    memory_mb: int
    memory_assumed: bool
    gpu_type: str
    devices: tuple[Device, ...]
    minors_assumed: bool
    autodetect: str | None
    withheld: tuple[HostGpu, ...]
    missing: tuple[int, ...]
    shared: tuple[str, int] | None
    features: tuple[str, ...]
    weight: int | None
    options: tuple[tuple[str, str], ...]
    gres: str | None = None
    gres_lines: tuple[tuple[tuple[str, str], ...], ...] = ()

    @property
    def gpu_types(self) -> tuple[tuple[str, int], ...]:
        """(Type, count) of what jobs get as GPUs: whole ones first, then MIG instances by profile."""
        names = Counter(device.profile or self.gpu_type for device in self.devices)
        return tuple(sorted(names.items(), key=lambda entry: (entry[0] != self.gpu_type, entry[0])))

    @property
    def shared_count(self) -> int:
        """Shards or parts of MPS on the whole node."""
        return self.shared[1] * len(self.devices) if self.shared else 0

    def number(self, option: str) -> int:
        """A whole number among the options of the node line, 0 where it does not stand there."""
        return int(dict(self.options).get(option, "0"))


@dataclass(frozen=True)
class Described:
    """Hosts of one shape, in written order, with their addresses (none, or one each)."""

    hosts: tuple[str, ...]
    addresses: tuple[str, ...]
    shape: Shape


def describe(cluster: Cluster, facts: Mapping[str, HostFacts]) -> tuple[Described, ...]:
    """All hosts of the cluster by shape; raises InputError with everything that is not known yet."""
    problems: list[Problem] = []
    rows: list[Described] = []
    for at, group in enumerate(cluster.nodes):
        of_type, of_hosts = ("nodes", at, "type"), ("nodes", at, "hosts")
        node_type = cluster.node_types[group.type]
        missing = [*_missing(node_type, group, facts), *_missing_caps(node_type, group, facts)]
        problems += [Problem("", 0, 0, f"node type '{node_type.name}': {text}", of_type) for text in missing]
        if not missing:
            try:
                described = _rows(node_type, group, facts)
            except InputError as error:
                problems += error.problems
                continue
            problems += [Problem("", 0, 0, text, of_hosts) for row in described for text in _unfit(row)]
            rows += described
    if problems:
        raise InputError(problems)
    return tuple(rows)


def _missing(node_type: NodeType, group: NodeGroup, facts: Mapping[str, HostFacts]) -> Iterator[str]:
    """What the admin must give or discover before this group can be written."""
    if node_type.gpu.model and gpu_model(node_type.gpu.model).vendor == "amd":
        yield (
            "AMD GPUs are listed but not rendered: their device files (renderD*) and AutoDetect=rsmi are not "
            "supported"
        )
        return
    known = [facts[host] for host in group.hosts if host in facts]
    everywhere = len(known) == len(group.hosts)
    layout = _type_layout(node_type)
    if layout is None and not (everywhere and all(f.cpu for f in known)):
        wanted = ("sockets", "cores_per_socket", "threads_per_core", "numa_per_socket")
        names = [name for name in wanted if getattr(node_type.cpu, name) is None]
        given = _give(node_type, f"cpu: {{{', '.join(f'{name}: N' for name in names)}}}")
        yield f"{', '.join(f'cpu.{name}' for name in names)} not known; {given}, or facts of every host"
    if not memory_known(node_type, known) and not kept_memory(group):
        given = _give(node_type, "memory: {real_memory_mb: N}")
        yield f"memory not known; {given} with what `slurmd -C` prints, or facts"
    if not node_type.gpu.count:
        return
    if node_type.gpu.model is None and group.as_written.gpu_type is None:
        given = _give(node_type, "gpu: {model: NAME}")
        yield f"gpu.model not known; {given} (`slurmwright types` lists what there is)"
    mapped = {gpu.index for gpu in node_type.gpus if gpu.numa is not None}
    one_socket = layout is not None and len(layout.nodes) == 1
    named = group.autodetect is None and group.as_written.gres is None
    if named and len(mapped) < node_type.gpu.count and not one_socket:
        numa = [f.gpus is not None and all(g.numa is not None for g in f.gpus) for f in known]
        if not (everywhere and all(numa)):
            given = _give(node_type, "gpus: [{index: 0, numa: N}, ...]")
            yield (
                f"NUMA nodes of its GPUs not known; {given}, or facts of every host, or `autodetect` on the "
                "group"
            )


def _give(node_type: NodeType, words: str) -> str:
    """Where to write what is missing: a type of the catalogue is changed by a type of one's own."""
    if node_type.name in node_type_names():
        return f"give it in a type of your own, {{extends: {node_type.name}, {words}}} under node_types"
    return f"give {words} in node_types"


def _missing_caps(node_type: NodeType, group: NodeGroup, facts: Mapping[str, HostFacts]) -> Iterator[str]:
    """MIG instances whose device files nobody has said; they depend on where the driver placed each one."""
    if group.autodetect == "nvml":
        return
    exceptions = group.differing()
    unknown = sorted(
        {
            gpu.index
            for host in group.hosts
            if group.mig
            for gpu in host_gpus(node_type, group, exceptions.get(host), facts.get(host))
            if any(one.caps is None for one in gpu.instances)
        }
    )
    if unknown:
        yield (
            f"device files of the MIG instances on GPU {', '.join(map(str, unknown))} of "
            f"{fold(group.hosts)} are not known; give caps: [[N, M], ...] under mig, one pair for each "
            "instance as /proc/driver/nvidia-caps/mig-minors lists gpuG/giI/access and gpuG/giI/ciC/access, "
            "or facts of every host, or autodetect: nvml with slurm: {nvml: true}"
        )


def _unfit(row: Described) -> Iterator[str]:
    """What keeps GPUs of these hosts from explicit lines."""
    shape = row.shape
    if shape.autodetect or shape.gres is not None:
        return
    known = {node.id for node in shape.layout.nodes}
    for device in shape.devices:
        if device.numa is None:
            yield (
                f"{fold(row.hosts)}: the NUMA node of /dev/nvidia{device.minor} is not known; give gpus: "
                "[{index: 0, numa: 0}, ...] in node_types, or numa in facts, or `autodetect` on the group"
            )
        elif device.numa not in known:
            nodes = ", ".join(map(str, sorted(known)))
            yield (
                f"{fold(row.hosts)}: /dev/nvidia{device.minor} is on NUMA node {device.numa}, but the NUMA "
                f"nodes with CPUs are {nodes}; correct gpus or cpu in node_types, or facts"
            )


def _rows(node_type: NodeType, group: NodeGroup, facts: Mapping[str, HostFacts]) -> list[Described]:
    exceptions = group.differing()
    common = [host for host in group.hosts if not _own_memory(exceptions.get(host))]
    memory = {} if kept_memory(group) else group_memory(node_type, common, facts)
    seen: dict[tuple[object, ...], Shape] = {}
    shapes: dict[Shape, list[int]] = {}
    for at, host in enumerate(group.hosts):
        own, exception = facts.get(host), exceptions.get(host)
        said = _own_memory(exception)
        own_memory = said_memory(said) if said else kept_memory(group) or memory[host]
        key = (own_memory, exception, own and own.cpu, own and own.gpus)
        if key not in seen:
            seen[key] = _shape(node_type, group, own_memory, exception, own)
        shapes.setdefault(seen[key], []).append(at)
    return [
        Described(
            tuple(group.hosts[at] for at in places),
            tuple(group.address[at] for at in places) if group.address else (),
            shape,
        )
        for shape, places in shapes.items()
    ]


def _shape(
    node_type: NodeType,
    group: NodeGroup,
    memory: RealMemory,
    exception: HostException | None,
    facts: HostFacts | None,
) -> Shape:
    layout = _layout(node_type, facts)
    assert layout is not None  # noqa: S101 - _missing has refused this type otherwise
    gpus = [_placed(gpu, node_type, layout) for gpu in host_gpus(node_type, group, exception, facts)]
    found = [device for gpu in gpus if not gpu.withheld for device in _devices(gpu)]
    devices = tuple(sorted(found, key=lambda device: device.profile))
    shared = ("shard", group.shards_per_gpu) if group.shards_per_gpu else None
    if group.mps_per_gpu:
        shared = ("mps", group.mps_per_gpu)
    kept = group.as_written
    gpu_type = gpu_model(node_type.gpu.model).slurm_type if node_type.gpu.model else ""
    return Shape(
        type=node_type.name,
        layout=layout,
        memory_mb=memory.mb,
        memory_assumed=memory.assumed,
        gpu_type=(gpu_type if kept.gpu_type is None else kept.gpu_type) if devices else "",
        devices=devices,
        minors_assumed=(facts is None or facts.gpus is None) and bool(devices) and not kept.gres_conf,
        autodetect=group.autodetect if devices else None,
        withheld=tuple(gpu for gpu in gpus if gpu.withheld),
        missing=exception.gpus_missing if exception else (),
        shared=shared if devices else None,
        features=group.features,
        weight=group.weight,
        options=tuple((_spelled(key), value) for key, value in group.options.items()),
        gres=kept.gres,
        gres_lines=tuple(tuple(line.items()) for line in kept.gres_conf),
    )


def _type_layout(node_type: NodeType) -> CpuLayout | None:
    cpu = node_type.cpu
    return layout_of(cpu if cpu.numbering else cpu.model_copy(update={"numbering": "contiguous"}))


def _layout(node_type: NodeType, facts: HostFacts | None) -> CpuLayout | None:
    if facts is None or facts.cpu is None:
        return _type_layout(node_type)
    try:
        return _seen_layout(facts.cpu)
    except ValueError as error:
        raise InputError.of(
            f"{facts.host}: {error}, and one node line cannot say so; correct its facts, or drain the host"
        ) from error


@lru_cache(maxsize=256)
def _seen_layout(cpu: CpuFact) -> CpuLayout:
    numa = ((node.id, node.socket, parse_cpus(node.cpus)) for node in cpu.numa)
    return CpuLayout.from_lists(numa, cpu.threads_per_core)


def _placed(gpu: HostGpu, node_type: NodeType, layout: CpuLayout) -> HostGpu:
    """The GPU with a NUMA node, as far as anything tells it."""
    if gpu.numa is not None:
        return gpu
    numa = next((row.numa for row in node_type.gpus if row.index == gpu.index), None)
    return replace(gpu, numa=layout.nodes[0].id if numa is None and len(layout.nodes) == 1 else numa)


def _spelled(key: str) -> str:
    """A key of a node line as Slurm's manual spells it."""
    option = lookup("slurm.conf", "NodeName", key)
    return option.key if option else key


def _devices(gpu: HostGpu) -> list[Device]:
    """A GPU as jobs get it: whole, or as its MIG instances in the order in which Slurm sorts their files."""
    if not gpu.instances:
        return [Device(gpu.minor, gpu.numa)]
    parts = sorted(gpu.instances, key=lambda one: (one.caps or (0, 0), one.profile))
    return [Device(gpu.minor, gpu.numa, one.profile, one.caps) for one in parts]


def _own_memory(exception: HostException | None) -> int | None:
    return exception.real_memory_mb if exception else None
