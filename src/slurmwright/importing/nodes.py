"""NodeName lines to groups of hosts and node types.

Hosts of one line whose lines of gres.conf differ become groups of their own, since a group's hosts are alike.
Slurm's files do not tell how a package divides into NUMA nodes: where `numa_node_as_socket` is on, two
packages are assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from slurmwright.catalogue.node_types import node_type_names
from slurmwright.conf import Record
from slurmwright.conf.meaning.devices import DeviceLine, device_lines, lines_by_node
from slurmwright.conf.meaning.nodes import cpu_shape, pairs_of
from slurmwright.conf.values import Pair
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.hosts import expand, fold, fold_in_order
from slurmwright.core.release import Release
from slurmwright.importing.draft import Listed, Part, Words, left_out, plain, remark
from slurmwright.importing.gpus import GpuWords, gpu_words
from slurmwright.importing.source import Source
from slurmwright.importing.yaml_text import Flow, Noted, yaml_text

NUMA_SOCKET = "numa_node_as_socket"
_CPU = ("cpus", "boards", "sockets", "socketsperboard", "corespersocket", "threadspercore")
_PER_HOST = frozenset(("nodehostname", "bcastaddr", "port"))
_OWN_WORDS = frozenset(("nodename", "nodeaddr", "features", "weight", "gres", "realmemory", *_CPU))
#: More sockets than a machine has: each CPU was written as one.
_MAX_SOCKETS = 64


@dataclass(frozen=True)
class Nodes:
    """`part` has nodes and node_types; `hosts` are all nodes, `detects` every AutoDetect that is used."""

    part: Part
    hosts: tuple[str, ...]
    detects: frozenset[str]


@dataclass(frozen=True)
class _Group:
    hosts: tuple[str, ...]
    whole: bool
    record: Record
    values: Mapping[str, Pair]
    lines: tuple[DeviceLine, ...]

    @property
    def place(self) -> tuple[str, int]:
        return self.record.doc.file, self.record.line.statement.line


@dataclass
class _Alike:
    """Lines that say the same of their hosts; `written` is the range of the only one."""

    words: Words
    place: str
    hosts: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    written: str = ""
    lines: int = 0


def nodes_of(source: Source, release: Release) -> Nodes:
    """All groups; InputError for lines that slurmctld would refuse, or where there are no nodes."""
    groups = list(_groups(source))
    if not groups:
        raise InputError.of(
            "has no NodeName line: nodes that register themselves (slurmd -Z) are not described by a "
            "cluster.yaml; give their hosts a NodeName line first",
            source.slurm.top.file,
        )
    on_all = _splits_everywhere(source)
    split = [_splits(group, on_all) for group in groups]
    types: dict[str, Words] = {}
    merged: dict[str, _Alike] = {}
    findings: list[Listed] = []
    detects: set[str] = set()
    for group, as_numa in zip(groups, split, strict=True):
        cpus, sockets, cores, threads = cpu_shape(group.values)
        gres = group.values["gres"].value if "gres" in group.values else ""
        gpus = gpu_words(gres, group.lines, sockets, cores, threads, release)
        detects |= {gpus.detect} if gpus.detect else set()
        findings += _cpu_findings(group, cpus, sockets, cores, threads)
        findings += _id_findings(gpus)
        cpu = _cpu(sockets, cores, threads, _sockets(groups, split, sockets) if as_numa else None)
        name = _named(types, {"cpu": Flow(cpu), **gpus.of_type}, group.hosts[0])
        addresses, lost = _addresses(group) if "nodeaddr" in group.values else ((), [])
        findings += lost
        own = _group_words(source, group, name, gpus)
        alike = merged.setdefault(_key(own, group, bool(addresses)), _Alike(own, source.shown(*group.place)))
        alike.hosts.extend(group.hosts)
        alike.addresses.extend(addresses)
        alike.written = group.values["nodename"].value if group.whole and not alike.lines else ""
        alike.lines += 1
    words = [_entry(alike) for alike in merged.values()]
    hosts = tuple(host for group in groups for host in group.hosts)
    return Nodes(Part({"nodes": words, "node_types": types}, tuple(findings)), hosts, frozenset(detects))


def _groups(source: Source) -> Iterator[_Group]:
    lines = device_lines(source.trees.get("gres.conf"))
    records = [(record, pairs_of(record)) for record in source.slurm.records("NodeName")]
    problems: list[Problem] = []
    gres: dict[str, str] = {}
    members: list[tuple[str, ...]] = []
    seen: dict[str, int] = {}
    for record, values in records:
        pair = values["nodename"]
        names: tuple[str, ...] = ()
        try:
            names = expand(pair.value)
        except InputError as error:
            problems.append(Problem(record.doc.file, pair.line, pair.column, error.problems[0].message))
        again = sorted(name for name in names if name in seen)
        if again:
            message = f"{fold(again)} has a NodeName line already, line {seen[again[0]]}; keep one"
            problems.append(Problem(record.doc.file, pair.line, pair.column, message))
        seen.update(dict.fromkeys(names, pair.line))
        gres.update(dict.fromkeys(names, values["gres"].value if "gres" in values else ""))
        members.append(names)
    if problems:
        raise InputError(problems)
    of_node = lines_by_node(lines, gres)
    for (record, values), names in zip(records, members, strict=True):
        alike: dict[tuple[int, ...], list[str]] = {}
        for name in names:
            alike.setdefault(of_node[name] if gres[name] else (), []).append(name)
        for numbers, hosts in alike.items():
            if not numbers and gres[hosts[0]]:
                lost = values["gres"]
                message = (
                    f"{fold(hosts)} has Gres={lost.value}, but no line of gres.conf is about it, and Slurm "
                    "drains such nodes; copy the site's gres.conf here, or take Gres out"
                )
                raise InputError.of(message, record.doc.file, lost.line, lost.column)
            yield _Group(tuple(hosts), len(alike) == 1, record, values, tuple(lines[n] for n in numbers))


def _splits_everywhere(source: Source) -> bool:
    found = source.slurm.get("SlurmdParameters")
    return found is not None and NUMA_SOCKET in found.value.lower()


def _splits(group: _Group, on_all: bool) -> bool:
    own = group.values.get("parameters")
    return on_all or (own is not None and NUMA_SOCKET in own.value.lower())


def _sockets(groups: Sequence[_Group], split: Sequence[bool], sockets: int) -> int:
    """Packages of a node whose `sockets` are NUMA nodes: two, or one where no node has more than three."""
    counts = [cpu_shape(group.values)[1] for group, one in zip(groups, split, strict=True) if one]
    several = any(count >= 4 and count % 2 == 0 for count in counts)
    if sockets >= 4 and sockets % 2 == 0:
        return 2
    return sockets if several else 1


def _cpu(sockets: int, cores: int, threads: int, packages: int | None) -> dict[str, object]:
    if sockets > _MAX_SOCKETS:
        sockets, cores = 1, sockets * cores
    per_socket = sockets // packages if packages else 1
    return {
        "sockets": sockets // per_socket,
        "cores_per_socket": cores * per_socket,
        "threads_per_core": threads,
        "numa_per_socket": per_socket,
        "numbering": "contiguous",
    }


def _named(types: dict[str, Words], words: Words, host: str) -> str:
    """The name of an equal type, or of this one under a fresh name."""
    for name, known in types.items():
        if known == words:
            return name
    stem = host.split(".")[0].rstrip("0123456789").rstrip("-_") or "node"
    taken = {*types, *node_type_names()}
    names = (f"{stem[:40]}-type{number}" if number else f"{stem[:40]}-type" for number in range(100_000))
    name = next(name for name in names if name not in taken)
    types[name] = words
    return name


def _key(words: Words, group: _Group, addressed: bool) -> str:
    """Equal for lines that become one group; lists that go by host keep their line to themselves."""
    own = group.hosts if _PER_HOST & group.values.keys() else ()
    return f"{yaml_text(_without_notes(words))}{addressed}{own}"


def _without_notes(words: Words) -> Words:
    bare = {key: value.value if isinstance(value, Noted) else value for key, value in words.items()}
    return {key: _without_notes(value) if isinstance(value, dict) else value for key, value in bare.items()}


def _entry(alike: _Alike) -> object:
    """One group, its hosts in written order where addresses go by it."""
    hosts: object = alike.written
    if alike.addresses or not alike.written:
        hosts = fold_in_order(alike.hosts) if alike.addresses else fold(alike.hosts)
    words: Words = {"hosts": hosts}
    if alike.addresses:
        words["address"] = fold_in_order(alike.addresses)
    more = f" and {alike.lines - 1} more" if alike.lines > 1 else ""
    return Noted(words | alike.words, f"{alike.place}{more}")


def _group_words(source: Source, group: _Group, kind: str, gpus: GpuWords) -> Words:
    values = group.values
    words: Words = {"type": kind}
    if "features" in values:
        words["features"] = [word.strip() for word in values["features"].value.split(",") if word.strip()]
    if "weight" in values:
        words["weight"] = plain(values["weight"].value)
    words |= gpus.of_group
    memory = values.get("realmemory")
    kept: Words = {"real_memory_mb": plain(memory.value) if memory else Noted(1, "none was given")}
    words["as_written"] = kept | gpus.kept
    options = {
        pair.key: Noted(plain(text), source.shown(group.record.doc.file, pair.line))
        for key, pair in values.items()
        if key not in _OWN_WORDS and (text := _option(key, pair.value))
    }
    if options:
        words["options"] = options
    return words


def _option(key: str, value: str) -> str:
    """The value of an option; empty for what is written anyway."""
    if key == "state" and value.upper() == "UNKNOWN":
        return ""
    if key != "parameters":
        return value
    words = [word for word in value.split(",") if word.strip().lower() != NUMA_SOCKET]
    return ",".join(words)


def _addresses(group: _Group) -> tuple[tuple[str, ...], list[Listed]]:
    pair = group.values["nodeaddr"]
    file = group.record.doc.file
    try:
        addresses = expand(pair.value)
        names = expand(group.values["nodename"].value)
    except InputError as error:
        raise InputError.of(error.problems[0].message, file, pair.line, pair.column) from None
    if len(addresses) != len(names):
        message = f"NodeAddr names {len(addresses)} addresses for {len(names)} nodes"
        finding = left_out(message, file, pair.line, "give one address for each node")
        return (), [Listed(finding, (file, pair.line, "nodeaddr"))]
    if addresses == names:
        return (), []
    of_host = dict(zip(names, addresses, strict=True))
    return tuple(of_host[host] for host in group.hosts), []


def _cpu_findings(group: _Group, cpus: int, sockets: int, cores: int, threads: int) -> Iterator[Listed]:
    file, line = group.place
    hosts, product = fold(group.hosts), sockets * cores * threads
    if sockets > _MAX_SOCKETS:
        message = (
            f"{hosts}: CPUs={cpus} without Sockets= makes {sockets} sockets of {cores} core, which no "
            f"machine has; written as one socket of {sockets * cores} cores"
        )
    elif cpus != product:
        message = (
            f"{hosts}: CPUs={cpus}, but {sockets} sockets of {cores} cores with {threads} threads are "
            f"{product}; written as these"
        )
    else:
        return
    said = next((group.values[key].line for key in _CPU if key in group.values), line)
    fix = "correct cpu of its node type after `slurmd -C` on the node"
    yield Listed(left_out(message, file, line, fix), (file, said, "cpus"))


def _id_findings(gpus: GpuWords) -> Iterator[Listed]:
    for line in gpus.cpu_ids:
        cores = line.get("cores") or line.get("cpus")
        message = (
            f"Cores={cores} names more cores than the node has, so these are OS CPU ids; the cores of their "
            "socket are written, for a system that numbers CPUs socket by socket"
        )
        fix = "compare with `nvidia-smi topo -m` and the facts of the host"
        finding = left_out(message, line.file, line.line, fix, "cpu-ids")
        yield Listed(finding, (line.file, line.line, line.name))
    for line in gpus.odd:
        message = (
            f"Cores={line.get('cores') or line.get('cpus')} is no whole socket of the node; it is kept as it "
            "stands, and may be OS CPU ids of a system that numbers CPUs across sockets"
        )
        fix = "compare with `nvidia-smi topo -m` and the facts of the host"
        yield Listed(remark(message, line.file, line.line, fix, "odd-cores"))
