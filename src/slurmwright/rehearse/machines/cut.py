"""Turns a bundle into the one for a few guests, file by file, and lists each difference with its reason.

Nodes without a guest get State=FUTURE, what counts cores or memory is scaled as the guests are, and all else
stays byte for byte. A number that is wrong for the hardware is wrong for the guest by the same measure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slurmwright.conf import Document, EffectiveLine, Pair, Statement, changes, effective_lines, parse
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.cpu_list import fold_cpus, parse_cpus
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold
from slurmwright.rehearse.adapt import DATABASE_CONF, EMPTY_DATABASE, OF_DATABASE_IN_PARTITIONS
from slurmwright.rehearse.machines.plan import NodeGuest, Plan
from slurmwright.rehearse.site import Step, auth_steps, site_steps
from slurmwright.rehearse.values import Adaptation

_FUTURE = "these nodes have no guest"
_CORES = "guests have fewer cores"
_MEMORY = "guests have less memory"
_ONE_SERVER = "one guest is controller, database and login host"
_NO_NVML = "Debian's Slurm is built without NVML; this finds the same GPUs through the driver's files"
_DISK = "guests have a small disk"
#: What a rehearsal on one machine cannot have and guests can.
_WORKS_HERE = ("PrologFlags", "DisableRootJobs")
#: What a guest is left with of TmpDisk: its disk is 4 GB in all.
_TMP_DISK = 1024
#: Keys of NodeName lines that count cores of a node (or of a socket, which is scaled alike).
_NODE_CORES = ("CPUs", "Procs", "CoresPerSocket", "CoreSpecCount")
_NODE_MEMORY = ("RealMemory", "MemSpecLimit")
#: Keys of slurm.conf and of partitions.
_LIMIT_CORES = ("DefCpuPerGPU", "MaxCPUsPerNode", "MaxCPUsPerSocket")
_LIMIT_MEMORY = ("DefMemPerGPU", "DefMemPerNode", "MaxMemPerNode")
_LIMIT_MEMORY_OF_CPU = ("DefMemPerCPU", "MaxMemPerCPU")


@dataclass(frozen=True)
class Scale:
    """How a node type shrinks: cores of a NUMA node and MiB of memory, before and after."""

    guest: NodeGuest

    def cores(self, count: int) -> int:
        """So many cores or cpus of the hardware, in the guest; never none where there were some."""
        mine, theirs = self.guest.shape.cores, len(self.guest.expected.layout.nodes[0].cores)
        return max(count * mine // theirs, 1) if count else 0

    def memory(self, count: int) -> int:
        """MiB. What is all of the node is all of the guest."""
        memory = self.guest.type.memory
        theirs = memory.real_memory_mb or (memory.nominal_gib or 0) * 1024
        return max(count * self.guest.shape.usable_mb // theirs, 1) if theirs and count else count

    def memory_of_cpu(self, count: int) -> int:
        """MiB for each CPU: memory and CPUs do not shrink alike."""
        mine, theirs = self.guest.shape.cores, len(self.guest.expected.layout.nodes[0].cores)
        return self.memory(count * theirs // mine)

    def core_list(self, text: str) -> str:
        """`Cores=` of gres.conf: each core where it lies in its NUMA node, by proportion."""
        mine, theirs = self.guest.shape.cores, len(self.guest.expected.layout.nodes[0].cores)
        return fold_cpus(
            {core // theirs * mine + core % theirs * mine // theirs for core in parse_cpus(text)}
        )


def cut(bundle: Bundle, plan: Plan) -> tuple[Bundle, tuple[Adaptation, ...]]:
    """The bundle for the guests of `plan`, and what was changed."""
    made: list[Adaptation] = []
    scales = {guest.host: Scale(guest) for guest in plan.nodes}
    paths = [file.path for file in bundle.files]
    edit: Mapping[str, Callable[[Document], Iterator[Step]]] = {
        "slurm.conf": lambda doc: _slurm_conf(doc, scales, paths),
        "gres.conf": lambda doc: _gres_conf(doc, scales),
        DATABASE_CONF: lambda doc: _slurmdbd_conf(doc, plan),
    }
    files: list[BundleFile] = []
    for file in bundle.files:
        steps = edit.get(posixpath.basename(file.path))
        if steps is not None:
            file = _edited(file, steps, made)
        files.append(_moved(file, plan, made))
    return replace(bundle, files=_once_each(files, plan, made)), tuple(made)


def _edited(
    file: BundleFile, steps: Callable[[Document], Iterator[Step]], made: list[Adaptation]
) -> BundleFile:
    doc = parse(file.text, file.path)
    taken = list(steps(doc))
    made += [step.shown for step in taken]
    return replace(file, text=doc.apply(change for step in taken for change in step.changes).text)


def _slurm_conf(doc: Document, scales: Mapping[str, Scale], paths: Sequence[str]) -> Iterator[Step]:
    everybody = _smallest(scales.values())
    yield from (step for step in site_steps(doc, paths) if step.shown.key not in _WORKS_HERE)
    for statement in doc.lines("NodeName"):
        if statement.pairs[0].value.upper() == "DEFAULT":
            yield from _scaled(doc, statement, everybody, _NODE_CORES, _NODE_MEMORY)
    for line in effective_lines(doc, "NodeName"):
        yield from _node_line(doc, line, scales)
    if everybody:
        for key in (*_LIMIT_CORES, *_LIMIT_MEMORY, *_LIMIT_MEMORY_OF_CPU):
            for statement in doc.lines(key):
                yield from _scaled(doc, statement, everybody, _LIMIT_CORES, _LIMIT_MEMORY)
    for statement in doc.lines("PartitionName"):
        own = [scale for host, scale in scales.items() if host in _nodes_of(statement)]
        yield from _scaled(doc, statement, _smallest(own) or everybody, _LIMIT_CORES, _LIMIT_MEMORY)
        for key in OF_DATABASE_IN_PARTITIONS:
            pair = statement.get(key)
            if pair is not None:
                shown = Adaptation(doc.file, pair.line, pair.key, pair.value, "", EMPTY_DATABASE)
                yield Step(changes.unset_pair(doc, statement, key), shown)


def _node_line(doc: Document, line: EffectiveLine, scales: Mapping[str, Scale]) -> Iterator[Step]:
    """The line for those of its nodes that have a guest, with one before it for those that have none."""
    statement = line.statement
    names = _expand(statement.pairs[0].value)
    with_guest = [at for at, name in enumerate(names) if name in scales]
    without = [at for at, name in enumerate(names) if name not in scales]
    if not with_guest:
        yield _future(doc, statement, line, fold(names))
        return
    scale = scales[names[with_guest[0]]]
    numbers = list(_scaled(doc, statement, scale, _NODE_CORES, _NODE_MEMORY))
    numbers += _small_disk(doc, statement)
    if not without:
        yield from numbers
        return
    single = parse(doc.text[statement.start : statement.end], doc.file)
    here = single.statements[0]
    moved = (
        change._replace(start=change.start - statement.start, end=change.end - statement.start)
        for step in numbers
        for change in step.changes
    )
    guests = single.apply([*_subset(single, here, names, with_guest), *moved]).text
    future = changes.set_pair(single, here, "State", "FUTURE")
    rest = single.apply([*_subset(single, here, names, without), *future]).text
    both = guests + ("" if guests.endswith("\n") else "\n") + rest
    left = fold(names[at] for at in without)
    edit = (changes.Change(statement.start, statement.end, both, None),)
    yield replace(_future(doc, statement, line, left), changes=edit)
    for step in numbers:
        yield replace(step, changes=())


def _future(doc: Document, statement: Statement, line: EffectiveLine, names: str) -> Step:
    shown = Adaptation(
        doc.file, statement.line, "State", _value(line.get("State")), "FUTURE", f"{names}: {_FUTURE}"
    )
    return Step(changes.set_pair(doc, statement, "State", "FUTURE"), shown)


def _subset(
    doc: Document, statement: Statement, names: Sequence[str], which: Sequence[int]
) -> Iterator[changes.Change]:
    """The names and addresses of these nodes alone."""
    for key in ("NodeName", "NodeAddr", "NodeHostname"):
        pair = statement.get(key)
        if pair is None:
            continue
        words = _expand(pair.value)
        if len(words) == len(names):
            yield from changes.set_pair(doc, statement, key, fold(words[at] for at in which))


def _scaled(
    doc: Document, statement: Statement, scale: Scale | None, cores: Sequence[str], memory: Sequence[str]
) -> Iterator[Step]:
    """Each number of the statement that counts cores or memory."""
    if scale is None:
        return
    for key, change, why in (
        *((key, scale.cores, _CORES) for key in cores),
        *((key, scale.memory, _MEMORY) for key in memory),
        *((key, scale.memory_of_cpu, _MEMORY) for key in _LIMIT_MEMORY_OF_CPU),
    ):
        pair = statement.get(key)
        if pair is not None and pair.value.isdigit():
            yield from _set(doc, statement, pair, str(change(int(pair.value))), why)


def _small_disk(doc: Document, statement: Statement) -> Iterator[Step]:
    pair = statement.get("TmpDisk")
    if pair is not None and pair.value.isdigit() and int(pair.value) > _TMP_DISK:
        yield from _set(doc, statement, pair, str(_TMP_DISK), _DISK)


def _set(doc: Document, statement: Statement, pair: Pair, value: str, why: str) -> Iterator[Step]:
    if value != pair.value:
        shown = Adaptation(doc.file, pair.line, pair.key, pair.value, value, why)
        yield Step(changes.set_pair(doc, statement, pair.key, value), shown)


def _gres_conf(doc: Document, scales: Mapping[str, Scale]) -> Iterator[Step]:
    everybody = _smallest(scales.values())
    for key in ("AutoDetect", "NodeName", "Name"):
        for statement in doc.lines(key):
            detect = statement.get("AutoDetect")
            if detect is not None and detect.value.lower() == "nvml":
                yield from _set(doc, statement, detect, "nvidia", _NO_NVML)
            pair = statement.get("Cores")
            nodes = statement.get("NodeName")
            own = [scales[name] for name in _expand(nodes.value) if name in scales] if nodes else []
            scale = own[0] if own else None if nodes else everybody
            if pair is None or scale is None or not re.match(r"[\d,-]+\Z", pair.value):
                continue
            yield from _set(doc, statement, pair, scale.core_list(pair.value), _CORES)


def _slurmdbd_conf(doc: Document, plan: Plan) -> Iterator[Step]:
    """slurmdbd stops on a host that it does not know by this name."""
    yield from auth_steps(doc)
    pair = doc.get("DbdHost")
    if pair is not None and pair.value.split(".")[0] in plan.moved:
        shown = Adaptation(doc.file, pair.line, pair.key, pair.value, plan.server, _ONE_SERVER)
        yield Step(changes.set_key(doc, "DbdHost", plan.server), shown)


def _moved(file: BundleFile, plan: Plan, made: list[Adaptation]) -> BundleFile:
    """Files of the database and login hosts go to the server as well."""
    hosts = _expand(file.hosts)
    if plan.server in hosts or not set(hosts) & set(plan.moved):
        return file
    new = fold((*(host for host in hosts if host not in plan.moved), plan.server))
    made.append(Adaptation(file.path, 0, "hosts", file.hosts, new, _ONE_SERVER))
    return replace(file, hosts=new)


def _once_each(files: Sequence[BundleFile], plan: Plan, made: list[Adaptation]) -> tuple[BundleFile, ...]:
    """A server that has taken over several parts keeps the controller's own file where two say otherwise."""
    own: dict[str, BundleFile] = {}
    result = []
    for file in sorted(files, key=lambda f: (f.path, posixpath.dirname(f.source).count("@"), f.source)):
        if plan.server in _expand(file.hosts):
            if file.path in own:
                left = [host for host in _expand(file.hosts) if host != plan.server]
                made.append(Adaptation(file.path, 0, "hosts", file.hosts, fold(left), _ONE_SERVER))
                if not left:
                    continue
                file = replace(file, hosts=fold(left))
            else:
                own[file.path] = file
        result.append(file)
    return tuple(sorted(result))


def _smallest(scales: Iterable[Scale]) -> Scale | None:
    """The scale by which limits that hold for several types shrink most."""
    return min(scales, key=lambda scale: scale.memory(1 << 40), default=None)


def _nodes_of(statement: Statement) -> tuple[str, ...]:
    pair = statement.get("Nodes")
    return _expand(pair.value) if pair is not None else ()


def _value(pair: Pair | None) -> str:
    return pair.value if pair is not None else ""


def _expand(text: str) -> tuple[str, ...]:
    try:
        return expand(text) if text else ()
    except InputError:
        return ()
