"""PartitionName lines to partitions; node sets become the nodes that they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slurmwright.conf import Record
from slurmwright.conf.meaning.nodes import node_sets, pairs_of, partition_nodes
from slurmwright.conf.meaning.said import truth
from slurmwright.conf.values import Pair
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold
from slurmwright.importing.draft import Listed, Part, Words, left_out, plain, remark
from slurmwright.importing.source import Source
from slurmwright.importing.yaml_text import Noted

_OWN_WORDS = frozenset(
    ("partitionname", "nodes", "default", "maxtime", "defaulttime", "state", "prioritytier")
)
#: Defaults that `render` gives a partition, left out where the source has none.
_DEFAULTS = ("DefCpuPerGPU", "DefMemPerGPU", "DefMemPerCPU")
_MEMORY = frozenset(("defmempercpu", "defmempergpu", "defmempernode"))


def partitions_of(source: Source, hosts: tuple[str, ...]) -> Part:
    """All partitions that have nodes; InputError where there is none."""
    everywhere, sets = set(hosts), node_sets(source.slurm)
    words: list[object] = []
    findings: list[Listed] = []
    for record in source.slurm.records("PartitionName"):
        values = pairs_of(record)
        place = record.doc.file, record.line.statement.line
        text = values["nodes"].value if "nodes" in values else ""
        members = partition_nodes(text, sets, everywhere) if text else set()
        names = values["partitionname"].value
        lost = sorted(members - everywhere)
        if lost:
            finding = left_out(f"partition {names}: {', '.join(lost[:5])} has no NodeName line", *place)
            findings.append(Listed(finding, (place[0], values["nodes"].line, "nodes")))
        if not members & everywhere:
            message = f"partition {names} has no nodes of this file and is left out"
            finding = left_out(message, *place, "give it nodes, or take the line out")
            findings.append(Listed(finding, (*place, "")))
            continue
        for name in names.split(","):
            own = _words(source, record, values, name, _choice(members & everywhere, hosts))
            words.append(Noted(own, source.shown(*place)))
    if not words:
        raise InputError.of("has no partition with nodes; a cluster.yaml needs one", source.slurm.top.file)
    return Part({"partitions": words}, (*findings, *_sets(source)))


def _choice(members: set[str], hosts: tuple[str, ...]) -> object:
    if len(members) == len(hosts):
        return "all"
    return {"hosts": fold(members)}


def _words(source: Source, record: Record, values: Mapping[str, Pair], name: str, nodes: object) -> Words:
    words: Words = {"name": name, "nodes": nodes}
    if "default" in values and truth(values["default"].value) == "yes":
        words["default"] = True
    for key, word in (("maxtime", "max_time"), ("defaulttime", "default_time")):
        if key in values:
            words[word] = values[key].value
    if "state" in values and values["state"].value.upper() != "UP":
        words["state"] = values["state"].value.upper()
    if "prioritytier" in values:
        words["priority_tier"] = plain(values["prioritytier"].value)
    options: Words = {
        pair.key: Noted(plain(pair.value), source.shown(record.doc.file, pair.line))
        for key, pair in values.items()
        if key not in _OWN_WORDS
    }
    options |= dict.fromkeys(_without(source, set(values)))
    if options:
        words["options"] = options
    return words


def _without(source: Source, there: set[str]) -> Iterator[str]:
    """Defaults of ours that neither this partition nor the whole file has."""
    known = there | {key.lower() for key in _DEFAULTS if source.slurm.get(key)}
    known |= {key for key in _MEMORY if source.slurm.get(key)}
    for key in _DEFAULTS:
        memory = key.lower() in _MEMORY
        if key.lower() not in known and not (memory and known & _MEMORY):
            yield key


def _sets(source: Source) -> Iterator[Listed]:
    for line in source.slurm.all("NodeSet"):
        name = line.statement.pairs[0].value
        message = f"node set {name} is written as its nodes: partitions name them themselves"
        yield Listed(remark(message, line.doc.file, line.statement.line, name="node-set"))
