"""Turns facts of hosts into the text of a first cluster.yaml: like hosts in groups, groups with their types.

A type of the catalogue is proposed only where the hosts show exactly what it says; else they get a type of
their own that says what was seen. What no host can tell (controllers, racks, partitions) is a guess to edit.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from slurmwright.catalogue.node_types import NodeType, gpu_models, load_node_type, node_type_names
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold
from slurmwright.model.cluster import NodeGroup
from slurmwright.model.facts import CpuFact, HostFacts
from slurmwright.model.facts_compare import differences
from slurmwright.model.own_type_checks import normal_pci
from slurmwright.topology.cpus import CpuLayout

_RELEASE = "24.11"


@dataclass(frozen=True)
class Shape:
    """What makes hosts alike: CPU layout, and GPUs by model, address and NUMA node."""

    cpu: CpuFact
    gpus: tuple[tuple[str, str | None, int | None], ...]


def draft_cluster(facts: Mapping[str, HostFacts], name: str = "cluster1") -> str:
    """The text; raises InputError where no host shows its CPUs."""
    groups = _grouped(facts)
    if not groups:
        raise InputError.of("no host has facts of its CPUs; discover the hosts first")
    types = _named(groups)
    return "\n".join(_lines(facts, groups, types, name)) + "\n"


def _grouped(facts: Mapping[str, HostFacts]) -> dict[Shape, list[str]]:
    found: dict[Shape, list[str]] = {}
    for host, own in sorted(facts.items()):
        if own.cpu is not None:
            rows = ((normal_pci(gpu.pci), gpu.model, gpu.numa) for gpu in own.gpus or ())
            shape = Shape(
                own.cpu.model_copy(update={"model": None}), tuple(sorted(rows, key=lambda row: row[0]))
            )
            found.setdefault(shape, []).append(host)
    return dict(sorted(found.items(), key=lambda item: (not item[0].gpus, -len(item[1]), item[1])))


@dataclass(frozen=True)
class _Named:
    name: str
    others: tuple[str, ...]
    own: bool


def _named(groups: Mapping[Shape, Sequence[str]]) -> dict[Shape, _Named]:
    found: dict[Shape, _Named] = {}
    for at, shape in enumerate(groups, 1):
        fitting = list(_fitting(shape))
        if fitting:
            found[shape] = _Named(fitting[0], tuple(fitting[1:]), False)
        else:
            model = _model(shape)
            word = (
                f"{model}-{len(shape.gpus)}gpu" if model else f"{len(shape.gpus)}gpu" if shape.gpus else "cpu"
            )
            found[shape] = _Named(f"own{at}-{word}", (), True)
    return found


def _fitting(shape: Shape) -> Iterator[str]:
    """Types of the catalogue that say what the hosts show, those that know most of it first."""
    if not shape.gpus:
        return
    facts = _as_facts(shape)
    group = NodeGroup(hosts=("x",), type="x")
    known = [load_node_type(name) for name in node_type_names()]
    like = [
        kind
        for kind in known
        if kind.gpu.model == _model(shape) and kind.gpu.model and _knows(kind) and kind.cloud is None
        if next(differences(kind, facts, group, None), None) is None and _same_places(kind, shape)
    ]
    yield from (kind.name for kind in sorted(like, key=lambda kind: (-_said(kind), kind.name)))


def _knows(kind: NodeType) -> bool:
    """Enough is known of it to write node lines from it."""
    cpu = kind.cpu
    return None not in (
        cpu.sockets,
        cpu.cores_per_socket,
        cpu.threads_per_core,
        cpu.numa_per_socket,
        cpu.numbering,
    )


def _same_places(kind: NodeType, shape: Shape) -> bool:
    said = {normal_pci(gpu.pci): gpu.numa for gpu in kind.gpus if gpu.pci}
    return all(said.get(pci, numa) in (numa, None) for pci, _, numa in shape.gpus)


def _said(kind: NodeType) -> int:
    return sum(1 for gpu in kind.gpus if gpu.pci)


def _as_facts(shape: Shape) -> HostFacts:
    gpus = tuple(
        {"pci": pci, "minor": at, "numa": numa, "model": model}
        for at, (pci, model, numa) in enumerate(shape.gpus)
    )
    return HostFacts.model_validate(
        {"format": "slurmwright/facts/1", "host": "x", "cpu": shape.cpu.model_dump(), "gpus": gpus}
    )


def _model(shape: Shape) -> str | None:
    """The key of the catalogue; None for mixed models and for those that it does not have."""
    models = {model for _, model, _ in shape.gpus}
    if len(models) != 1:
        return None
    seen = models.pop()
    return next((name for name, row in gpu_models().items() if row.nvml_name == seen), None)


def _lines(
    facts: Mapping[str, HostFacts],
    groups: Mapping[Shape, Sequence[str]],
    types: Mapping[Shape, _Named],
    name: str,
) -> Iterator[str]:
    yield "# Drafted from facts of the hosts: read it, correct it, then: slurmwright render -i ."
    yield f"name: {json.dumps(name)}"
    yield f'slurm: {{release: "{_release(facts)}"}}  # as the hosts have it, where they have one'
    yield "control: {controllers: [ctl1]}  # no host can tell: your controllers"
    yield "nodes:"
    for shape, hosts in groups.items():
        kind = types[shape]
        yield f"  - hosts: {json.dumps(fold(hosts))}"
        also = f"  # also fits: {', '.join(kind.others)}" if kind.others else ""
        yield f"    type: {kind.name}{also}"
    own = [(shape, hosts) for shape, hosts in groups.items() if types[shape].own]
    if own:
        yield "node_types:"
    for shape, hosts in own:
        yield from _type_lines(types[shape].name, shape, [facts[host] for host in hosts])
    yield "partitions:"
    for at, name_of in enumerate(dict.fromkeys(types[shape].name for shape in groups)):
        default = ", default: true" if at == 0 else ""
        yield f"  - {{name: {name_of}, nodes: {{type: {name_of}}}{default}}}"


def _release(facts: Mapping[str, HostFacts]) -> str:
    said = sorted({own.system.slurm for own in facts.values() if own.system and own.system.slurm})
    return ".".join(said[-1].split(".")[:2]) if said else _RELEASE


def _type_lines(name: str, shape: Shape, hosts: Sequence[HostFacts]) -> Iterator[str]:
    sockets = len({node.socket for node in shape.cpu.numa})
    threads = shape.cpu.threads_per_core
    cores = sum(len(parse_cpus(node.cpus)) for node in shape.cpu.numa) // threads
    yield f"  {name}:"
    numbering = _numbering(shape, sockets, cores // sockets, len(shape.cpu.numa) // sockets)
    numbered = f", numbering: {numbering}" if numbering else ""
    yield (
        f"    cpu: {{sockets: {sockets}, cores_per_socket: {cores // sockets}, threads_per_core: {threads}, "
        f"numa_per_socket: {len(shape.cpu.numa) // sockets}{numbered}}}"
    )
    sizes = [own.memory.real_memory_mb for own in hosts if own.memory]
    if sizes:
        yield f"    memory: {{real_memory_mb: {min(sizes)}}}"
    if not shape.gpus:
        return
    model = _model(shape)
    seen = " and ".join(sorted({str(one) for _, one, _ in shape.gpus}))
    line = (
        f"    gpu: {{model: {model}, count: {len(shape.gpus)}}}"
        if model
        else f"    gpu: {{count: {len(shape.gpus)}}}"
    )
    yield line if model else f"{line}  # {json.dumps(seen)} is no one model of the catalogue"
    yield "    gpus:"
    for at, (pci, _, numa) in enumerate(shape.gpus):
        place = "" if numa is None else f", numa: {numa}"
        yield f'      - {{index: {at}, pci: "{pci}"{place}}}'


def _numbering(shape: Shape, sockets: int, cores: int, numa: int) -> str | None:
    """How the kernel deals CPUs out, where it is one of the two ways that have a name."""
    try:
        rows = ((node.id, node.socket, parse_cpus(node.cpus)) for node in shape.cpu.numa)
        layout = CpuLayout.from_lists(rows, shape.cpu.threads_per_core)
        for way in ("contiguous", "interleaved"):
            usual = CpuLayout.regular(sockets, cores, shape.cpu.threads_per_core, numa, way)
            if usual == layout:
                return way
    except ValueError:
        return None
    return None
