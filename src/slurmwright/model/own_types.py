"""Turns the `node_types` of a file, with their `extends:`, into full node types.

Mappings are merged into the base, lists replace. What was measured or mapped on the base and no longer
holds for the changed type becomes unknown again: the GPUs' NUMA nodes follow a coarser division (NPS4 to
NPS1), but nothing says where they go in a finer one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slurmwright.catalogue import node_types as catalogue
from slurmwright.catalogue.node_types import NodeType
from slurmwright.model import names, own_type_checks
from slurmwright.model.faults import Faults
from slurmwright.model.plain_words import kind, short
from slurmwright.model.shapes import tuples
from slurmwright.model.yaml_source import Where

_SECTION = "node_types"
_MAX_CHAIN = 16


def resolve(faults: Faults, raw: Any) -> dict[str, NodeType]:
    """Every type that the file itself describes, by name; types with faults are left out."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        faults.add((_SECTION,), f"node_types is {kind(raw)}; expected {{NAME: {{extends: BASE, ...}}}}")
        return {}
    done: dict[str, NodeType | None] = dict.fromkeys(_endless(faults, raw))
    for name in raw:
        _resolve(faults, raw, name, done)
    return {name: node_type for name, node_type in done.items() if node_type is not None}


def _resolve(
    faults: Faults, raw: Mapping[str, Any], name: str, done: dict[str, NodeType | None]
) -> NodeType | None:
    """One type, its bases first; None where it or a base has faults, which are noted once."""
    if name in done:
        return done[name]
    where: Where = (_SECTION, name)
    before = len(faults)
    base: NodeType | None = None
    if _good_entry(faults, where, name, raw[name]):
        base_name = raw[name].get("extends")
        base = (
            _base_type(faults, raw, (*where, "extends"), base_name, done) if base_name is not None else None
        )
        if base_name is None or base is not None:
            data = {**_data(raw[name], base), "name": name}
            node_type = faults.build(NodeType, data, where)
            if node_type is not None:
                own_type_checks.check(faults, where, node_type)
            done[name] = node_type if len(faults) == before else None
    return done.setdefault(name, None)


def _good_entry(faults: Faults, where: Where, name: str, own: Any) -> bool:
    before = len(faults)
    if wrong := names.bad_word("node type", name):
        faults.add(where, wrong, key=True)
    elif name in catalogue.node_type_names():
        faults.add(where, f"'{name}' is a type of the catalogue; give yours another name", key=True)
    if not isinstance(own, dict):
        faults.add(where, f"node type is {kind(own)}; expected a mapping such as {{extends: dgx-h100}}")
    elif "name" in own:
        faults.add((*where, "name"), "unknown key 'name'; the key above is the type's name", key=True)
    return len(faults) == before


def _endless(faults: Faults, raw: Mapping[str, Any]) -> set[str]:
    """The types whose bases go round in a circle or on and on; each circle is noted once."""
    endless: set[str] = set()
    noted: set[str] = set()
    for start in raw:
        trail = [start]
        while len(trail) <= _MAX_CHAIN and (base := _base_name(raw, trail[-1])) in raw and base not in trail:
            trail.append(str(base))
        if len(trail) > _MAX_CHAIN:
            faults.add((_SECTION, start, "extends"), f"extends passes through more than {_MAX_CHAIN} types")
            endless.add(start)
        elif base in trail:
            circle = trail[trail.index(str(base)) :]
            if noted.isdisjoint(circle):
                path = " -> ".join(short(name) for name in [*circle, circle[0]])
                faults.add((_SECTION, circle[0], "extends"), f"extends goes round in a circle: {path}")
            noted.update(circle)
            endless.update(trail)
    return endless


def _base_name(raw: Mapping[str, Any], name: str) -> str | None:
    own = raw.get(name)
    base = own.get("extends") if isinstance(own, dict) else None
    return base if isinstance(base, str) else None


def _base_type(
    faults: Faults, raw: Mapping[str, Any], place: Where, base: Any, done: dict[str, NodeType | None]
) -> NodeType | None:
    if not isinstance(base, str):
        faults.add(place, f"extends is {kind(base)}; expected the name of a node type")
        return None
    if base in raw:
        return _resolve(faults, raw, base, done)
    known = [*catalogue.node_type_names(), *(other for other in raw if other != place[1])]
    return catalogue.load_node_type(base) if faults.pick(place, "node type", base, known) else None


def _data(raw: Mapping[str, Any], base: NodeType | None) -> dict[str, Any]:
    own = {key: tuples(value) for key, value in raw.items() if key != "extends"}
    if base is not None:
        return _over(base.model_dump(), own)
    if isinstance(own.get("gpu", {}), dict) and isinstance(own.get("gpus"), tuple):
        own["gpu"] = {"count": len(own["gpus"]), **own.get("gpu", {})}
    return {"source": ("cluster.yaml",), **own}


def _over(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    merged = {**_forget(base, own)}
    for key, value in own.items():
        below = merged.get(key)
        merged[key] = {**below, **value} if isinstance(below, dict) and isinstance(value, dict) else value
    return merged


def _forget(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The base without what the changes of `own` make untrue."""
    kept = dict(base)
    if {"cpu", "memory", "gpu", "gpus"} & own.keys():
        kept["seen_slurm_line"] = None
    memory = own.get("memory")
    if isinstance(memory, dict) and memory.get("nominal_gib", _get(base, "memory", "nominal_gib")) != _get(
        base, "memory", "nominal_gib"
    ):
        kept["memory"] = {**base["memory"], "real_memory_mb": None, "cpu_memory_mb": None}
    return _renumbered(kept, own)


def _renumbered(kept: dict[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """GPUs and network cards on the NUMA nodes of the new division."""
    cpu = own.get("cpu")
    if not isinstance(cpu, dict):
        return kept
    old, old_sockets = _get(kept, "cpu", "numa_per_socket"), _get(kept, "cpu", "sockets")
    new = cpu.get("numa_per_socket", old)
    # What was not known is not changed by being told: the places of the GPUs were read from such a machine.
    if old in (None, new) and old_sockets in (None, cpu.get("sockets", old_sockets)):
        return kept
    follows = (
        isinstance(new, int)
        and isinstance(old, int)
        and 0 < new <= old
        and old % new == 0
        and cpu.get("sockets", old_sockets) == old_sockets
    )

    def moved(rows: Any) -> tuple[Any, ...]:
        return tuple(
            {**row, "numa": row["numa"] * new // old if follows and row.get("numa") is not None else None}
            if isinstance(row, dict)
            else row
            for row in rows or ()
        )

    kept["gpus"] = moved(kept.get("gpus"))
    if isinstance(kept.get("network"), dict):
        kept["network"] = {**kept["network"], "devices": moved(kept["network"].get("devices"))}
    return kept


def _get(data: Mapping[str, Any], section: str, key: str) -> Any:
    part = data.get(section)
    return part.get(key) if isinstance(part, dict) else None
