"""topology.conf or topology.yaml to `topology`: every switch and block under its own name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slurmwright.conf import Tree
from slurmwright.conf.meaning.network import parsed
from slurmwright.conf.meaning.said import hosts
from slurmwright.core.release import Release
from slurmwright.importing.draft import Part, Words, plain
from slurmwright.importing.source import Source
from slurmwright.importing.yaml_text import Flow, Noted


def topology_of(source: Source, release: Release) -> Part:
    """The words of the network; none for a flat one. What they cannot hold shows when files are compared."""
    if source.topology_yaml is not None and release.at_least("25.05"):
        document = parsed(*source.topology_yaml)
        return Part(_of_yaml(document.data)) if document is not None else Part()
    plugin = source.slurm.get("TopologyPlugin")
    kind = plugin.value.strip().lower().rpartition("/")[2] if plugin else ""
    tree = source.trees.get("topology.conf")
    if tree is None or kind not in ("tree", "block"):
        return Part()
    return Part(_of_tree(source, tree, kind))


def _of_tree(source: Source, tree: Tree, kind: str) -> Words:
    units: list[object] = []
    sizes: list[object] = []
    first = "switchname" if kind == "tree" else "blockname"
    for line in tree.lines:
        values = {pair.key.lower(): pair.value for pair in line.statement.pairs}
        place = source.shown(line.doc.file, line.statement.line)
        if line.statement.key.lower() == first:
            below = "nodes" if values.get("nodes") else "switches"
            unit = {"name": values[first], below: values.get(below, "")}
            units.append(Noted(Flow(unit), place))
        elif line.statement.key.lower() == "blocksizes":
            sizes = [plain(text.strip()) for text in values["blocksizes"].split(",")]
        elif line.statement.key.lower() == "blocklevels":
            sizes = _of_levels(tree, values["blocklevels"])
    return _words(kind, units, sizes)


def _of_yaml(data: Any) -> Words:
    entries = [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []
    chosen = next((e for e in entries if e.get("cluster_default")), entries[0] if entries else None)
    if chosen is None:
        return {}
    for kind, many, one in (("tree", "switches", "switch"), ("block", "blocks", "block")):
        part = chosen.get(kind)
        if isinstance(part, dict):
            rows = part.get(many)
            units = (
                [_unit(row, one) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
            )
            sizes = part.get("block_sizes", [])
            given = sizes if isinstance(sizes, list) else [sizes]
            return {**_words(kind, units, given), "format": "yaml"}
    return {"kind": "flat", "format": "yaml"} if chosen.get("flat") else {}


def _unit(row: Mapping[str, Any], one: str) -> object:
    below = ("nodes", row["nodes"]) if row.get("nodes") else ("switches", row.get("children", ""))
    return Flow({"name": str(row.get(one, "")), below[0]: str(below[1])})


def _words(kind: str, units: Sequence[object], sizes: Sequence[object]) -> Words:
    words: Words = {"kind": kind, "units": list(units)}
    return {**words, "sizes": list(sizes)} if sizes else words


def _of_levels(tree: Tree, levels: str) -> list[object]:
    """BlockLevels of 23.11, doublings of the one size that all blocks have, as sizes."""
    named = next((line.statement.get("Nodes") for line in tree.all("BlockName")), None)
    size = len(hosts(named.value)) if named else 0
    numbers = [text.strip() for text in levels.split(",")]
    if not size or not all(text.isascii() and text.isdigit() and len(text) < 3 for text in numbers):
        return []
    return [size << min(int(text), 15) for text in numbers]
