"""Turns described hosts into the NodeName and PartitionName lines of slurm.conf."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from slurmwright.core.release import Release
from slurmwright.model.cluster import Cluster, Partition
from slurmwright.render.billing import billing_pairs
from slurmwright.render.described import Described, Shape
from slurmwright.render.hostlist import fold_for
from slurmwright.render.rows import Line, Pairs
from slurmwright.render.sockets import PARAMETER, for_node, numa_as_socket
from slurmwright.render.spec_cores import free_in_socket, reserved_cores

#: Keys of a line from `options`; None leaves one out.
Options = tuple[tuple[str, str | None], ...]
#: Keys of a node line that hold one entry for each host, in the order of the hosts.
PER_HOST = ("NodeHostname", "BcastAddr", "Port")


def node_lines(cluster: Cluster, rows: Sequence[Described]) -> tuple[Line, ...]:
    """`NodeName=gpu[001-064] … State=UNKNOWN`: one line for all hosts that are the same to slurmctld,
    whatever the numbers of their device files are."""
    release = cluster.slurm.release
    alike: dict[tuple[Line, bool], list[Described]] = {}
    for row in rows:
        alike.setdefault((_description(release, row.shape), bool(row.addresses)), []).append(row)
    place = {host: at for at, host in enumerate(host for group in cluster.nodes for host in group.hosts)}
    return tuple(
        Line((*_names(release, members, place, line), *line.pairs), line.comments)
        for (line, _), members in alike.items()
    )


def _names(release: Release, rows: Iterable[Described], place: dict[str, int], line: Line) -> Pairs:
    """NodeName and NodeAddr, in written order where another list of the line goes by it."""
    addresses = {
        host: address for row in rows for host, address in zip(row.hosts, row.addresses, strict=False)
    }
    hosts = sorted((host for row in rows for host in row.hosts), key=place.__getitem__)
    ordered = bool(addresses) or any(key in PER_HOST for key, _ in line.pairs)
    names = ("NodeName", fold_for(release, hosts, ordered=ordered))
    if not addresses:
        return (names,)
    return names, ("NodeAddr", fold_for(release, [addresses[host] for host in hosts], ordered=True))


def _description(release: Release, shape: Shape) -> Line:
    """Every number that slurmd will be held to."""
    sockets, cores = shape.layout.slurm_sockets(numa_as_socket(shape))
    own = dict(shape.options)
    words = [PARAMETER] if for_node(release, shape) else []
    words += [own.pop("Parameters")] if "Parameters" in own else []
    pairs = [
        ("CPUs", str(shape.layout.cpus)),
        ("Boards", "1"),
        ("SocketsPerBoard", str(sockets)),
        ("CoresPerSocket", str(cores)),
        ("ThreadsPerCore", str(shape.layout.threads)),
        ("RealMemory", str(shape.memory_mb)),
    ]
    if words:
        pairs.append(("Parameters", ",".join(words)))
    if shape.gres is not None:
        pairs += [("Gres", shape.gres)] if shape.gres else []
    elif shape.devices:
        gres = [f"gpu:{kind}:{count}" if kind else f"gpu:{count}" for kind, count in shape.gpu_types]
        gres += [f"{shape.shared[0]}:{shape.shared_count}"] if shape.shared else []
        pairs.append(("Gres", ",".join(gres)))
    if shape.features:
        pairs.append(("Features", ",".join(shape.features)))
    if shape.weight is not None:
        pairs.append(("Weight", str(shape.weight)))
    pairs += _merged(tuple(own.items()), [("State", "UNKNOWN")])
    comments = (
        (f"assumed: RealMemory from the nominal memory of {shape.type}",) if shape.memory_assumed else ()
    )
    return Line(tuple(pairs), comments)


def partition_line(cluster: Cluster, partition: Partition, rows: Sequence[Described]) -> Line:
    """`PartitionName=train Nodes=…`, with defaults that leave room for the other GPUs' jobs."""
    chosen = partition.nodes.select(cluster.nodes)
    everything = sum(len(row.hosts) for row in rows)
    nodes = "ALL" if len(chosen) == everything else fold_for(cluster.slurm.release, list(chosen))
    members = set(chosen)
    shapes = [row.shape for row in rows if not members.isdisjoint(row.hosts)]
    pairs = [("PartitionName", partition.name), ("Nodes", nodes)]
    if partition.default:
        pairs.append(("Default", "YES"))
    pairs.append(("MaxTime", partition.max_time or "UNLIMITED"))
    if partition.default_time:
        pairs.append(("DefaultTime", partition.default_time))
    if partition.priority_tier is not None:
        pairs.append(("PriorityTier", str(partition.priority_tier)))
    everywhere = cluster.overrides.get("slurm.conf", {})
    elsewhere = {key for key, value in everywhere.items() if value is not None}
    defaults = [*_shares(shapes), *billing_pairs(cluster, shapes, rows), ("State", partition.state)]
    pairs += _merged(tuple(partition.options.items()), defaults, elsewhere)
    return Line(tuple(pairs))


def _merged(own: Options, defaults: list[tuple[str, str]], elsewhere: Iterable[str] = ()) -> Pairs:
    """Defaults that cluster.yaml does not set itself (or `elsewhere`, for all partitions), then what it sets;
    one kind of memory default only. None takes a default away."""
    keys = {key.lower() for key in (*(key for key, _ in own), *elsewhere)}
    memory = {"defmempercpu", "defmempergpu", "defmempernode"}
    if keys & memory:
        keys |= memory
    kept = [(key, value) for key, value in defaults if key.lower() not in keys]
    written = tuple((key, value) for key, value in own if value is not None)
    return (*kept[:-1], *written, *kept[-1:]) if kept else written


def _shares(shapes: Sequence[Shape]) -> list[tuple[str, str]]:
    """What a job gets that asks for nothing: the share of its GPU, or of its CPUs where there are no GPUs.

    Without a default the first one-GPU job takes all memory of the node (seen on 22.05.8, 24.11.5, 26.05.5).
    """
    with_gpus = [shape for shape in shapes if shape.devices]
    if with_gpus:
        cpus = min(_cpus_per_gpu(shape) for shape in with_gpus)
        memory = min(_free_memory(shape) // len(shape.devices) for shape in with_gpus)
        return [("DefCpuPerGPU", str(cpus)), ("DefMemPerGPU", str(memory))]
    return [("DefMemPerCPU", str(min(_free_memory(shape) // shape.layout.cpus for shape in shapes)))]


def _cpus_per_gpu(shape: Shape) -> int:
    """CPUs of a GPU's Slurm socket over the GPUs there, in whole cores: a default job stays on its socket."""
    layout = shape.layout
    cores = (layout.cores - len(reserved_cores(shape))) // len(shape.devices)
    split = numa_as_socket(shape)
    known = {node.id for node in layout.nodes}
    nodes = [device.numa for device in shape.devices if device.numa in known and device.numa is not None]
    sockets = Counter(layout.socket_cores(numa, split) for numa in nodes)
    if len(nodes) == len(shape.devices):
        free = {layout.socket_cores(numa, split): free_in_socket(shape, numa) for numa in set(nodes)}
        cores = min(cores, *(free[socket] // count for socket, count in sockets.items()))
    return max(cores, 1) * layout.threads


def _free_memory(shape: Shape) -> int:
    return shape.memory_mb - shape.number("MemSpecLimit")
