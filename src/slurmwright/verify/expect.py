"""Turns node types and facts into what a correct cluster must show, without a look at any rendered file.

This is the independent side of every verdict: sockets, cores and GPUs come from the hardware's own map, so
that a wrong slurm.conf or gres.conf cannot agree with itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from slurmwright.catalogue.node_types import NodeType, gpu_model
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster, HostException, NodeGroup
from slurmwright.model.facts import HostFacts
from slurmwright.model.host_gpus import HostGpu, host_gpus
from slurmwright.topology.cpus import CpuLayout, layout_of, parse_cpus
from slurmwright.topology.host_maps import facts_of
from slurmwright.topology.hwloc_map import HostMap


@dataclass(frozen=True)
class ExpectedGpu:
    """What jobs get as one GPU: a GPU, or a MIG instance of one. `minor` is N of /dev/nvidiaN, `numa` its
    NUMA node (None: unknown, locality not checked), `type` what Slurm calls it."""

    minor: int
    numa: int | None
    type: str = ""
    caps: tuple[int, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """Its device files, as Slurm sorts GPUs by them."""
        return (f"/dev/nvidia{self.minor}", *(f"/dev/nvidia-caps/nvidia-cap{cap}" for cap in self.caps))

    @property
    def label(self) -> str:
        """How evidence names it."""
        return f"{self.files[0]} (MIG {self.type}, cap {self.caps[0]})" if self.caps else self.files[0]


@dataclass(frozen=True)
class ExpectedNode:
    """What hosts of one shape must show. `minors_known`: from facts, or assumed in PCI order. `spare` are
    minors of GPUs that are there but not given to jobs, `shared` the name and number of the shares (shard or
    mps) that all GPUs together give. `hwloc_xml` is the host's own map where there is one; its slurmd then
    sees that instead of the layout made from the type."""

    type: str
    layout: CpuLayout
    gpu_type: str
    gpus: tuple[ExpectedGpu, ...]
    minors_known: bool
    autodetect: str | None
    spare: tuple[int, ...] = ()
    shared: tuple[str, int] | None = None
    hwloc_xml: str = field(default="", compare=False)

    @property
    def ordered(self) -> list[ExpectedGpu]:
        """Whole GPUs in rising order of their device numbers, then MIG instances likewise by profile."""
        return self.in_order_of(())

    @property
    def gpu_types(self) -> tuple[tuple[str, int], ...]:
        """(Type, count) in order of the types' names."""
        return tuple(sorted(Counter(gpu.type for gpu in self.gpus).items()))

    def in_order_of(self, types: Sequence[str]) -> list[ExpectedGpu]:
        """GPUs as Slurm counts them: type by type in the order of the node's Gres (gres.c, _merge_gres), and
        within a type in rising order of their device numbers."""
        place = {kind: at for at, kind in enumerate(types)}
        return sorted(
            self.gpus, key=lambda g: (place.get(g.type, len(place)), bool(g.caps), g.type, g.minor, g.caps)
        )

    def gpu_of_index(self, index: int, types: Sequence[str] = ()) -> ExpectedGpu | None:
        """The GPU that Slurm calls IDX `index` on a node whose Gres names these types in this order."""
        return self.in_order_of(types)[index] if index < len(self.gpus) else None


def expected_nodes(
    cluster: Cluster, facts: Mapping[str, HostFacts], maps: Mapping[str, HostMap] | None = None
) -> dict[str, ExpectedNode]:
    """Host → what it must show; equal hosts share one value. InputError for a type without a layout.

    A host's hwloc map beats its facts and its type: it is what slurmd will see there.
    """
    maps = maps or {}
    nodes: dict[str, ExpectedNode] = {}
    for group in cluster.nodes:
        node_type = cluster.node_types[group.type]
        exceptions = group.differing()
        seen: dict[tuple[object, ...], ExpectedNode] = {}
        for host in group.hosts:
            own, exception = facts.get(host), exceptions.get(host)
            mapped = facts_of(host, own, maps[host]) if host in maps else None
            shown = mapped or own
            key = (exception, mapped is not None, shown and shown.cpu, shown and shown.gpus)
            if key not in seen:
                seen[key] = _expected(node_type, group, exception, shown)
                if mapped is not None:
                    seen[key] = replace(
                        seen[key],
                        type=f"{node_type.name} by its hwloc XML",
                        minors_known=own is not None and own.gpus is not None,
                        hwloc_xml=maps[host].xml,
                    )
            nodes[host] = seen[key]
    return nodes


def _expected(
    node_type: NodeType, group: NodeGroup, exception: HostException | None, facts: HostFacts | None
) -> ExpectedNode:
    layout = _layout(node_type, facts)
    found = [_located(gpu, node_type, layout) for gpu in host_gpus(node_type, group, exception, facts)]
    kept = group.as_written.gpu_type
    whole = _slurm_type(node_type) if kept is None else kept
    gpus = tuple(one for gpu in found if not gpu.withheld for one in _as_given(gpu, whole))
    known = {node.id for node in layout.nodes}
    for gpu in gpus:
        if gpu.numa is not None and gpu.numa not in known:
            whose = facts.host if facts else node_type.name
            raise InputError.of(
                f"{whose}: {gpu.files[0]} is on NUMA node {gpu.numa}, but the NUMA nodes with CPUs are "
                f"{', '.join(map(str, sorted(known)))}; correct gpus or cpu"
            )
    per_gpu = group.shards_per_gpu or group.mps_per_gpu
    shared = ("shard" if group.shards_per_gpu else "mps", per_gpu * len(gpus)) if per_gpu and gpus else None
    shared = shared or _kept_shares(group.as_written.gres or "")
    return ExpectedNode(
        node_type.name,
        layout,
        whole,
        gpus,
        facts is not None and facts.gpus is not None,
        group.autodetect,
        tuple(gpu.minor for gpu in found if gpu.withheld),
        shared,
    )


def _kept_shares(gres: str) -> tuple[str, int] | None:
    """The shares of an imported group: `gpu:v100:4,mps:v100:400` has 400 of mps."""
    for entry in gres.split(","):
        words = entry.split(":")
        if words[0] in ("shard", "mps") and words[-1].isdigit():
            return words[0], int(words[-1])
    return None


def _layout(node_type: NodeType, facts: HostFacts | None) -> CpuLayout:
    if facts is not None and facts.cpu is not None:
        numa = ((node.id, node.socket, parse_cpus(node.cpus)) for node in facts.cpu.numa)
        try:
            return CpuLayout.from_lists(numa, facts.cpu.threads_per_core)
        except ValueError as error:
            raise InputError.of(f"{facts.host} cannot be rehearsed by its facts: {error}") from error
    layout = layout_of(node_type.cpu)
    if layout is None:
        raise InputError.of(
            f"node type '{node_type.name}' cannot be rehearsed: its CPU layout is not known; give "
            "cpu.sockets, cpu.cores_per_socket, cpu.threads_per_core, cpu.numa_per_socket and "
            "cpu.numbering in node_types, or facts of its hosts"
        )
    return layout


def _located(gpu: HostGpu, node_type: NodeType, layout: CpuLayout) -> HostGpu:
    """The GPU on the NUMA node of its type where the host's kernel tells none (-1), or on the only one."""
    if gpu.numa is not None:
        return gpu
    numa = next((row.numa for row in node_type.gpus if row.index == gpu.index), None)
    return replace(gpu, numa=layout.nodes[0].id if numa is None and len(layout.nodes) == 1 else numa)


def _as_given(gpu: HostGpu, whole: str) -> Iterator[ExpectedGpu]:
    """A GPU whole or as its instances. Where nobody has said their capability numbers, stand-ins are taken as
    the driver counts them: 135 for each GPU, 9 for each instance, GPU instance before compute instance."""
    if not gpu.instances:
        yield ExpectedGpu(gpu.minor, gpu.numa, whole)
    for at, one in enumerate(gpu.instances):
        first = 3 + 135 * gpu.minor + 9 * (at + 1)
        yield ExpectedGpu(gpu.minor, gpu.numa, one.profile, one.caps or (first, first + 1))


def _slurm_type(node_type: NodeType) -> str:
    return gpu_model(node_type.gpu.model).slurm_type if node_type.gpu.model else ""
