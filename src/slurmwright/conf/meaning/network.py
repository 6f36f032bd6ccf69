"""topology.conf and topology.yaml to their switches and blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slurmwright.conf.meaning.said import Key, Said, host_set, hosts
from slurmwright.conf.tree import Tree
from slurmwright.core.errors import InputError
from slurmwright.model.yaml_source import Source, Where, parse_yaml

CONF, YAML = "topology.conf", "topology.yaml"


def switches_of(tree: Tree) -> Iterator[tuple[Key, Said]]:
    """Every switch and block of topology.conf, and what its blocks are joined to."""
    for line in tree.lines:
        values = {pair.key.lower(): pair.value for pair in line.statement.pairs}
        first = line.statement.key.lower()
        if first in ("switchname", "blockname"):
            below = values.get("nodes", "") or values.get("switches", "")
            kind = "nodes" if values.get("nodes") else "switches"
            for name in hosts(values[first]):
                said = Said(host_set(below), below, line.doc.file, line.statement.line)
                yield (CONF, f"{first.removesuffix('name')} {name}", kind), said
        elif first:
            value = line.statement.pairs[0].value
            yield (CONF, "", first), Said(value.replace(" ", ""), value, line.doc.file, line.statement.line)


def yaml_topologies(text: str, file: str) -> Iterator[tuple[Key, Said]]:
    """The same for each topology of topology.yaml."""
    source = parse_yaml(text, file)
    for at, entry in enumerate(source.data if isinstance(source.data, list) else ()):
        if not isinstance(entry, dict):
            continue
        name = str(entry.get("topology", ""))
        subject = f"topology {at + 1}"
        yield _yaml(source, (at, "topology"), subject, "topology", name)
        default = str(bool(entry.get("cluster_default", False))).lower()
        yield _yaml(source, (at, "cluster_default"), subject, "cluster_default", default)
        yield from _units(source, at, subject, entry)


def parsed(text: str, file: str) -> Source | None:
    """A topology.yaml as YAML; None where it is none that is read here."""
    try:
        return parse_yaml(text, file)
    except InputError:
        return None


def _units(source: Source, at: int, name: str, entry: Mapping[str, Any]) -> Iterator[tuple[Key, Said]]:
    for kind, many, one in (("tree", "switches", "switch"), ("block", "blocks", "block")):
        part = entry.get(kind)
        if not isinstance(part, dict):
            continue
        sizes = part.get("block_sizes")
        if sizes is not None:
            text = ",".join(map(str, sizes if isinstance(sizes, list) else [sizes]))
            yield _yaml(source, (at, kind, "block_sizes"), name, "block_sizes", text)
        units = part.get(many)
        for number, unit in enumerate(units if isinstance(units, list) else ()):
            if not isinstance(unit, dict):
                continue
            word = "nodes" if unit.get("nodes") else "children"
            below = str(unit.get(word) or "")
            where = (at, kind, many, number)
            yield _yaml(source, where, f"{name} {one} {unit.get(one)}", word, host_set(below), below)
    if entry.get("flat"):
        yield _yaml(source, (at, "flat"), name, "flat", "true")


def _yaml(
    source: Source, where: Where, subject: str, what: str, normal: str, written: str = ""
) -> tuple[Key, Said]:
    return (YAML, subject, what), Said(normal, written or normal, source.file, source.place(where)[0])
