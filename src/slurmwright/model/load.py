"""Turns a cluster.yaml into a `Cluster`, or into all of its faults at once, each with file:line:column."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from slurmwright.catalogue import node_types as catalogue
from slurmwright.catalogue.node_types import NodeType
from slurmwright.catalogue.options import lookup
from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.model import own_types, shapes
from slurmwright.model.check import Parts, check
from slurmwright.model.check_gpus import check_gpus
from slurmwright.model.check_topology import check_units
from slurmwright.model.cluster import (
    Accounting,
    Cluster,
    Containers,
    Control,
    Fabric,
    Nccl,
    NodeGroup,
    Partition,
    Scratch,
    Setting,
    Slurm,
    Topology,
)
from slurmwright.model.faults import Faults, Model
from slurmwright.model.plain_words import kind, short
from slurmwright.model.yaml_builder import Spot
from slurmwright.model.yaml_source import Source, Where, read_yaml

FILE = "cluster.yaml"

#: Keys of a node type that are only shown to people.
_PROSE = frozenset(
    (
        "description",
        "note",
        "source",
        "unsure",
        "bios",
        "pcie_note",
        "local_scratch",
        "seen_slurm_line",
        "label",
    )
)
_TYPE = "node type"
Shape = Callable[[Faults, Where, dict[str, Any]], dict[str, Any]]


def load_cluster(where: Path, release: Release | None = None) -> Cluster:
    """Load a folder's cluster.yaml, or that file itself; raises InputError with every fault of it.

    `release` takes the place of `slurm.release`, to see what the same cluster is under another Slurm.
    """
    source = read_yaml(cluster_file(where))
    if release is not None and isinstance(source.data, dict) and isinstance(source.data.get("slurm"), dict):
        slurm = {**source.data["slurm"], "release": release}
        source = replace(source, data={**source.data, "slurm": slurm})
    return cluster_from(source)


@contextmanager
def lines_of(inventory: Path) -> Iterator[None]:
    """Give what is refused in here the line of cluster.yaml that it is about, where it is known.

    The file is read again only where there is something to say.
    """
    try:
        yield
    except InputError as error:
        if not any(problem.where and not problem.file for problem in error.problems):
            raise
        source = read_yaml(cluster_file(inventory))
        raise InputError(
            source.problem(problem.where, problem.message) if problem.where and not problem.file else problem
            for problem in error.problems
        ) from error


def cluster_file(where: Path) -> Path:
    """`-i` takes the folder or its cluster.yaml."""
    return where / FILE if where.is_dir() else where


def cluster_from(source: Source) -> Cluster:
    """The cluster that an already read file describes."""
    faults = Faults(source)
    raw = source.data
    if raw is None:
        raise InputError.of("is empty; `slurmwright init` writes a first cluster.yaml", source.file)
    if not isinstance(raw, dict):
        raise InputError.of(
            f"is {kind(raw)}; expected name, slurm, control, nodes and partitions", source.file, 1
        )
    faults.keys(raw, Cluster.model_fields)
    own = own_types.resolve(faults, raw.get("node_types"))
    parts = _parts(faults, raw)
    types = _types(faults, raw, own)
    check(faults, parts)
    groups = [(at, group) for at, group in enumerate(parts.nodes) if group is not None]
    check_gpus(faults, groups, types)
    if parts.topology and parts.slurm and len(faults) == 0:
        check_units(faults, parts.topology, groups, types, parts.slurm.release)
    _note_unprintable(faults)
    faults.stop()
    return _cluster(parts, types)


def _parts(faults: Faults, raw: Mapping[str, Any]) -> Parts:
    control = _part(faults, raw, "control", Control, shapes.control)
    has_database = control is not None and control.database is not None
    accounting = shapes.accounting(raw.get("accounting"), has_database)
    fabric = raw.get("fabric")
    topology = shapes.tuples(shapes.topology(faults, raw.get("topology")))
    return Parts(
        name=_name(faults, raw),
        slurm=_part(faults, raw, "slurm", Slurm, shapes.slurm),
        control=control,
        nodes=_list(faults, raw, "nodes", NodeGroup, shapes.group),
        partitions=_list(faults, raw, "partitions", Partition, shapes.partition),
        fabric=faults.build(Fabric, fabric, ("fabric",)) if fabric is not None else None,
        nccl=_optional(faults, raw, "nccl", Nccl),
        topology=faults.build(Topology, topology, ("topology",)) if topology is not None else None,
        scratch=_optional(faults, raw, "scratch", Scratch),
        containers=_optional(faults, raw, "containers", Containers),
        accounting=faults.build(Accounting, accounting, ("accounting",)),
        overrides=_overrides(faults, raw.get("overrides")),
    )


def _name(faults: Faults, raw: Mapping[str, Any]) -> str | None:
    if "name" in raw and not isinstance(raw["name"], str):
        written = faults.source.raw(("name",))
        hint = f'; put it in quotes: "{written}"' if written else ", for example pod1"
        faults.add(("name",), f"name is {kind(raw['name'])}; expected text{hint}")
        return None
    return raw.get("name")


def _part(faults: Faults, raw: Mapping[str, Any], key: str, model: type[Model], shape: Shape) -> Model | None:
    return _one(faults, (key,), raw[key], model, shape) if key in raw else None


def _optional(faults: Faults, raw: Mapping[str, Any], key: str, model: type[Model]) -> Model | None:
    return faults.build(model, shapes.tuples(raw[key]), (key,)) if raw.get(key) is not None else None


def _one(faults: Faults, where: Where, raw: Any, model: type[Model], shape: Shape) -> Model | None:
    if not isinstance(raw, dict):
        wanted = Cluster.model_fields[str(where[0])].description
        faults.add(where, f"{where[0]} is {kind(raw)}; expected {wanted}")
        return None
    before = len(faults)
    built = faults.build(model, shapes.tuples(shape(faults, where, raw)), where)
    return built if len(faults) == before else None


def _list(
    faults: Faults, raw: Mapping[str, Any], key: str, model: type[Model], shape: Shape
) -> tuple[Model | None, ...]:
    if key not in raw:
        return ()
    entries = raw[key]
    if not isinstance(entries, list) or not entries:
        wanted = Cluster.model_fields[key].description
        faults.add((key,), f"{key} is {kind(entries)}; expected a list: {wanted}")
        return ()
    return tuple(_one(faults, (key, at), entry, model, shape) for at, entry in enumerate(entries))


def _overrides(faults: Faults, raw: Any) -> dict[str, dict[str, Setting]]:
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        faults.add(("overrides",), f"overrides is {kind(raw)}; expected {{FILE: {{KEY: value}}}}")
        return {}
    settings: dict[str, dict[str, Setting]] = {}
    for file, keys in raw.items():
        if keys is not None and not isinstance(keys, dict):
            faults.add(("overrides", file), f"{short(file)} is {kind(keys)}; expected {{KEY: value}}")
            continue
        settings[file] = {
            key: shapes.setting(faults, ("overrides", file, key), value)
            for key, value in (keys or {}).items()
        }
    return settings


def _types(faults: Faults, raw: Mapping[str, Any], own: Mapping[str, NodeType]) -> dict[str, NodeType]:
    """The types that groups name, also groups with faults of their own."""
    described = raw.get("node_types")
    names = [*catalogue.node_type_names(), *(described if isinstance(described, dict) else ())]
    groups = raw.get("nodes")
    types: dict[str, NodeType] = {}
    for at, group in enumerate(groups if isinstance(groups, list) else ()):
        name = group.get("type") if isinstance(group, dict) else None
        if (
            not isinstance(name, str)
            or name in types
            or not faults.pick(("nodes", at, "type"), _TYPE, name, names)
        ):
            continue
        if name in own:
            types[name] = own[name]
        elif not isinstance(described, dict) or name not in described:
            types[name] = catalogue.load_node_type(name)
    return types


def _cluster(parts: Parts, types: dict[str, NodeType]) -> Cluster:
    overrides = {
        file: {_spelled(file, "global", key): value for key, value in settings.items()}
        for file, settings in parts.overrides.items()
        if settings
    }
    return Cluster(
        name=parts.name or "",
        slurm=parts.slurm,
        control=parts.control,
        nodes=tuple(_with_spelled_options(group, "NodeName") for group in parts.nodes if group),
        node_types=types,
        fabric=parts.fabric,
        nccl=parts.nccl or Nccl(),
        topology=parts.topology,
        scratch=parts.scratch,
        containers=parts.containers,
        partitions=tuple(_with_spelled_options(part, "PartitionName") for part in parts.partitions if part),
        accounting=parts.accounting or Accounting(),
        overrides=overrides,
    )


def _with_spelled_options(part: Any, section: str) -> Any:
    if not part.options:
        return part
    spelled = {_spelled("slurm.conf", section, key): value for key, value in part.options.items()}
    return part.model_copy(update={"options": spelled})


def _spelled(file: str, section: str, key: str) -> str:
    """A key in Slurm's own spelling: Slurm does not tell upper from lower case."""
    option = lookup(file, section, key)
    return option.key if option else key


def _note_unprintable(faults: Faults) -> None:
    """Texts that are not printable ASCII, prose aside, where no other fault is noted already: each could end
    up in a file that takes nothing else."""
    pending: list[tuple[Where, Spot]] = [((), faults.source.root)]
    while pending:
        where, spot = pending.pop()
        text = spot.raw
        if text is not None and not (text.isascii() and text.isprintable()) and not faults.at(where):
            faults.add(where, f"'{short(text)}' is not plain ASCII; write printable ASCII on one line")
        for step, inner in spot.parts.items():
            if not (where[:1] == ("node_types",) and step in _PROSE):
                pending.append(((*where, step), inner))
