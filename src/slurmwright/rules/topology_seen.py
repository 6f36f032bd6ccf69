"""topology.conf or topology.yaml to switches and blocks with their lines, whichever file the release reads.

What surprises: from 25.05 a topology.yaml makes Slurm ignore topology.conf and TopologyPlugin, and before
that the file is ignored without a word. Source: src/interfaces/topology.c.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from slurmwright.core.release import Release
from slurmwright.rules.config import Config
from slurmwright.rules.node_lines import hosts
from slurmwright.rules.rule import Place

YAML = "topology.yaml"
CONF = "topology.conf"
#: From this release on the YAML file is read at all.
YAML_SINCE = "25.05"
#: More YAML nodes than this are not looked at.
MAX_NODES = 200_000


@dataclass(frozen=True)
class Unit:
    """A switch or a block: its name, the names below it, and its line."""

    name: str
    nodes: str
    children: str
    place: Place

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        return hosts(self.nodes) if self.nodes else ()

    @cached_property
    def child_names(self) -> tuple[str, ...]:
        return hosts(self.children) if self.children else ()


@dataclass(frozen=True)
class Topology:
    """One named topology: `kind` is tree or block; `sizes` are its block sizes as written."""

    kind: str
    units: tuple[Unit, ...]
    sizes: str
    place: Place


@dataclass(frozen=True)
class YamlFault:
    """What is wrong with topology.yaml as a document."""

    message: str
    place: Place


def kind_wanted(config: Config) -> str:
    """`tree`, `block` and so on, as TopologyPlugin says; empty without one."""
    word = config.value("TopologyPlugin").lower().removeprefix("topology/")
    return "" if "none" in word or word in ("default", "flat") else word


def reads_yaml(config: Config, release: Release) -> bool:
    """Does the release read the topology.yaml that is there?"""
    return release.at_least(YAML_SINCE) and config.path(YAML) in config.texts


def topologies(config: Config, release: Release) -> tuple[Topology, ...]:
    """Every topology that the release takes from the files."""
    if reads_yaml(config, release):
        return config.remember("topology.yaml", lambda: tuple(_from_yaml(config)))
    kind = kind_wanted(config)
    found = config.remember("topology.conf", lambda: _from_conf(config))
    return (found,) if found and kind in ("tree", "block") and found.kind in (kind, "") else ()


def _from_conf(config: Config) -> Topology | None:
    tree = config.tree(CONF)
    if tree is None:
        return None
    units: list[Unit] = []
    kinds = {"switchname": "tree", "blockname": "block"}
    for line in tree.lines:
        if line.statement.key.lower() in kinds:
            pairs = {pair.key.lower(): pair.value for pair in line.statement.pairs}
            place = Place(line.doc.file, line.statement.line)
            units.append(
                Unit(line.statement.pairs[0].value, pairs.get("nodes", ""), pairs.get("switches", ""), place)
            )
    found = {kinds[line.statement.key.lower()] for line in tree.lines if line.statement.key.lower() in kinds}
    sizes = config.value("BlockSizes", file=CONF) or config.value("BlockLevels", file=CONF)
    return Topology(found.pop() if len(found) == 1 else "", tuple(units), sizes, Place(tree.top.file))


def _document(config: Config) -> yaml.Node | None:
    text = config.texts[config.path(YAML)]
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def _from_yaml(config: Config) -> Iterator[Topology]:
    file = config.path(YAML)
    root = _document(config)
    for item in root.value if isinstance(root, yaml.SequenceNode) else ():
        parts = _mapping(item)
        place = Place(file, item.start_mark.line + 1)
        if "tree" in parts:
            yield Topology(
                "tree", tuple(_units(_mapping(parts["tree"]).get("switches"), "switch", file)), "", place
            )
        if "block" in parts:
            block = _mapping(parts["block"])
            sizes = block.get("block_sizes")
            text = ",".join(_text(one) for one in sizes.value) if isinstance(sizes, yaml.SequenceNode) else ""
            yield Topology("block", tuple(_units(block.get("blocks"), "block", file)), text, place)


def _units(node: yaml.Node | None, key: str, file: str) -> Iterator[Unit]:
    for item in node.value[:MAX_NODES] if isinstance(node, yaml.SequenceNode) else ():
        parts = _mapping(item)
        words = {name: _text(value) for name, value in parts.items()}
        place = Place(file, item.start_mark.line + 1)
        yield Unit(words.get(key, ""), words.get("nodes", ""), words.get("children", ""), place)


def _mapping(node: yaml.Node | None) -> dict[str, yaml.Node]:
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {_text(key): value for key, value in node.value}


def _text(node: Any) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def yaml_fault(config: Config) -> YamlFault | None:
    """Why topology.yaml is no list of topologies; None when it is."""
    file = config.path(YAML)
    text = config.texts.get(file)
    if text is None:
        return None
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        return YamlFault(f"is not YAML: {error.problem}", Place(file, line))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return YamlFault(f"is not YAML: {' '.join(str(error).split())[:100]}", Place(file))
    if not isinstance(root, yaml.SequenceNode):
        return YamlFault("is no list of topologies; each begins with '- topology: NAME'", Place(file, 1))
    kinds = {"tree", "block", "flat", "ring", "torus3d"}
    for item in root.value:
        given = sorted(kinds & set(_mapping(item)))
        if len(given) != 1:
            told = " and ".join(given) or "none"
            message = (
                f"has a topology with {told} of tree, block, flat, ring and torus3d, where Slurm takes one"
            )
            return YamlFault(message, Place(file, item.start_mark.line + 1))
    return None
