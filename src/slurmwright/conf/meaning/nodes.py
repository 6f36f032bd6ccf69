"""NodeName and PartitionName lines of slurm.conf to what they say of each node and partition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from slurmwright.catalogue.options import lookup
from slurmwright.conf.meaning.said import Key, Said, folded, host_set, hosts
from slurmwright.conf.meaning.settings import normal_value
from slurmwright.conf.tree import Record, Tree
from slurmwright.conf.values import Pair
from slurmwright.core.release import Release
from slurmwright.model.slurm_time import minutes

FILE = "slurm.conf"
_CPU = ("cpus", "procs", "boards", "sockets", "socketsperboard", "corespersocket", "threadspercore")
#: Keys of a node line that hold one entry for each of its hosts.
_PER_HOST = ("nodeaddr", "nodehostname", "bcastaddr", "port")
_TIMES = ("maxtime", "defaulttime", "overtimelimit")
#: Second names of one key (read_config.c).
_SAME = {"feature": "features", "shared": "oversubscribe", "procs": "cpus"}
_COUNT = re.compile(r"\d{1,18}[kmgtpKMGTP]?\Z", re.ASCII)
_OTHER_RECORDS = ("downnodes", "frontendname", "poweraction")


def nodes_of(tree: Tree, release: Release) -> Iterator[tuple[Key, Said]]:
    """Everything that is said of each node."""
    for record in tree.records("NodeName"):
        values = pairs_of(record)
        names = hosts(values["nodename"].value)
        lists = {key: hosts(values[key].value) for key in _PER_HOST if key in values}
        fixed = list(_same_for_all(record, values, release))
        for at, name in enumerate(names):
            subject = f"node {name}"
            for key, said in fixed:
                yield (FILE, subject, key), said
            for key, entries in lists.items():
                own = entries[at] if len(entries) == len(names) else values[key].value
                # An address that is the name of the node says nothing.
                if key == "port" or own != name:
                    yield (FILE, subject, key), _said(record, values[key], own)


def partitions_of(tree: Tree, release: Release) -> Iterator[tuple[Key, Said]]:
    """Everything that is said of each partition; node sets are resolved."""
    everywhere = {name for r in tree.records("NodeName") for name in hosts(pairs_of(r)["nodename"].value)}
    sets = node_sets(tree)
    for record in tree.records("PartitionName"):
        values = pairs_of(record)
        for name in values["partitionname"].value.split(","):
            subject = f"partition {name}"
            yield (FILE, subject, "partitionname"), _said(record, values["partitionname"], name)
            for key, pair in values.items():
                if key == "partitionname":
                    continue
                normal = _partition_value(key, pair.value, release)
                if key == "nodes":
                    normal = _members(pair.value, sets, everywhere)
                yield (FILE, subject, key), _said(record, pair, normal)


def records_of(tree: Tree) -> Iterator[tuple[Key, Said]]:
    """DownNodes, FrontendName and PowerAction lines as they stand."""
    for key in _OTHER_RECORDS:
        for number, line in enumerate(tree.all(key)):
            text = " ".join(f"{pair.key}={pair.value}" for pair in line.statement.pairs)
            yield (
                (FILE, f"{line.statement.key} {number + 1}", "line"),
                Said(text.lower(), text, line.doc.file, line.statement.line),
            )


def pairs_of(record: Record) -> dict[str, Pair]:
    """The pairs that hold for a line by key; a second name of a key counts as the first."""
    found: dict[str, Pair] = {}
    for pair in (*record.line.inherited, *record.line.statement.pairs):
        found[_SAME.get(pair.key.lower(), pair.key.lower())] = pair
    return found


def cpu_shape(values: Mapping[str, Pair]) -> tuple[int, int, int, int]:
    """(CPUs, sockets, cores of a socket, threads) as slurmctld works them out of a node line.

    CPUs alone are that many sockets of one core (_parse_nodename in read_config.c).
    """
    cpus, boards = _number(values, "cpus", 0), _number(values, "boards", 1) or 1
    cores, threads = _number(values, "corespersocket", 1) or 1, _number(values, "threadspercore", 1) or 1
    sockets = _number(values, "sockets", 0)
    if "socketsperboard" in values:
        sockets = boards * _number(values, "socketsperboard", 1)
    if not sockets:
        each = cores * threads
        sockets = cpus // each if cpus >= each and cpus % each == 0 else boards
    return cpus or sockets * cores * threads, sockets, cores, threads


@lru_cache(maxsize=1024)
def gres_entries(text: str) -> tuple[tuple[str, str, str], ...]:
    """`gpu:h100:8,shard:64` → (name, type, count) each; a number alone behind the name is the count."""
    found = []
    for part in re.split(r",(?![^()]*\))", text):
        words = re.sub(r"\(.*?\)", "", part.strip()).split(":")
        if not words[0]:
            continue
        count = words.pop() if len(words) > 1 and _COUNT.match(words[-1]) else "1"
        found.append((words[0].lower(), ":".join(words[1:]), count.lower()))
    return tuple(found)


def node_sets(tree: Tree) -> dict[str, frozenset[str]]:
    """NodeSet → its nodes, of those that have a node line."""
    featured: dict[str, set[str]] = {}
    for record in tree.records("NodeName"):
        values = pairs_of(record)
        for word in values["features"].value.split(",") if "features" in values else ():
            featured.setdefault(word.strip(), set()).update(hosts(values["nodename"].value))
    found: dict[str, frozenset[str]] = {}
    for record in tree.records("NodeSet"):
        values = pairs_of(record)
        members: set[str] = set(hosts(values["nodes"].value)) if "nodes" in values else set()
        for word in values["features"].value.split(",") if "features" in values else ():
            members |= featured.get(word.strip(), set())
        found[values["nodeset"].value] = frozenset(members)
    return found


def partition_nodes(text: str, sets: Mapping[str, frozenset[str]], everywhere: set[str]) -> set[str]:
    """The nodes of a partition."""
    if text.strip().upper() == "ALL":
        return set(everywhere)
    found: set[str] = set()
    for name in hosts(text):
        found |= sets.get(name, frozenset((name,)))
    return found


def _same_for_all(record: Record, values: Mapping[str, Pair], release: Release) -> Iterator[tuple[str, Said]]:
    place = next((values[key] for key in _CPU if key in values), values["nodename"])
    cpus, sockets, cores, threads = cpu_shape(values)
    text = f"CPUs={cpus} Sockets={sockets} CoresPerSocket={cores} ThreadsPerCore={threads}"
    yield "cpus", _said(record, place, text, text)
    for key, pair in values.items():
        if key in ("nodename", *_CPU, *_PER_HOST):
            continue
        if key == "gres":
            entries = gres_entries(pair.value)
            yield key, _said(record, pair, ",".join(":".join(entry) for entry in entries))
        elif key == "features":
            words = {word.strip() for word in pair.value.split(",") if word.strip()}
            yield key, _said(record, pair, ",".join(sorted(words)))
        else:
            yield (
                key,
                _said(record, pair, normal_value(lookup(FILE, "NodeName", key), key, pair.value, release)),
            )


def _members(text: str, sets: Mapping[str, frozenset[str]], everywhere: set[str]) -> str:
    found = partition_nodes(text, sets, everywhere)
    if found == everywhere:
        return "ALL"
    return folded(found)


def _partition_value(key: str, value: str, release: Release) -> str:
    if key in _TIMES:
        try:
            return str(minutes(value))
        except ValueError:
            return value
    if key in ("allownodes", "allocnodes"):
        return host_set(value)
    text = normal_value(lookup(FILE, "PartitionName", key), key, value, release)
    return text.upper() if key in ("state", "oversubscribe") else text


def _number(values: Mapping[str, Pair], key: str, default: int) -> int:
    text = values[key].value.strip() if key in values else ""
    return int(text) if re.match(r"\d{1,9}\Z", text, re.ASCII) else default


def _said(record: Record, pair: Pair, normal: str, written: str = "") -> Said:
    return Said(normal, written or pair.value, record.doc.file, pair.line)
