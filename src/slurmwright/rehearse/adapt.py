"""Turns a bundle into the bundle that can run on one machine, and lists each difference with its reason.

What cannot work without real hardware or root's own cgroups is replaced, everything else stays byte for byte;
a key that must go is commented out, so that line numbers in Slurm's messages stay those of the bundle.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from slurmwright.conf import Document, EffectiveLine, Statement, changes, effective_lines, parse
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.hosts import expand
from slurmwright.core.release import Release
from slurmwright.rehearse.cast import slurm_conf
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.site import Step, auth_steps, comment_out, site_steps
from slurmwright.rehearse.values import Adaptation
from slurmwright.render.hostlist import fold_for

_NO_CGROUP = "a rehearsal leaves this machine's cgroups alone"
_NO_DATABASE = "the bundle brings no slurmdbd.conf, so no slurmdbd runs in this rehearsal"
_OWN_DATABASE = "a MariaDB of the rehearsal's own runs on the database host"
EMPTY_DATABASE = "the rehearsal's database knows none of this cluster's accounts and QOS"
DATABASE_CONF = "slurmdbd.conf"
_READ_HERE = ("slurm.conf", "gres.conf", "cgroup.conf", "job_container.conf", DATABASE_CONF)
#: Where the rehearsal's own password goes.
PASSWORD = "@SLURMWRIGHT_STORAGE_PASSWORD@"  # noqa: S105
_NO_SPANK = "a SPANK plugin of the site is no part of the Slurm that is rehearsed"
_ONE_MACHINE = "every daemon listens on the address of its own host name, since all share one machine"


@dataclass(frozen=True)
class Rule:
    """One setting of slurm.conf that must differ: `old` "" stands for any value, `new` None takes it out."""

    key: str
    old: str
    new: str | None
    reason: str


RULES = (
    Rule("ProctrackType", "proctrack/cgroup", "proctrack/linuxproc", _NO_CGROUP),
    Rule("JobAcctGatherType", "jobacct_gather/cgroup", "jobacct_gather/linux", _NO_CGROUP),
    Rule("TaskPlugin", "", None, "jobs cannot be bound to CPUs that this machine does not have"),
)
#: What else must go when the bundle accounts its jobs through slurmdbd.
_OF_DATABASE = (
    "AccountingStorageType",
    "AccountingStorageHost",
    "AccountingStorageBackupHost",
    "AccountingStorageEnforce",
    "AccountingStorageTRES",
    "PriorityWeightAge",
    "PriorityWeightFairshare",
    "PriorityWeightTRES",
)
#: The same for partitions; from 25.11 slurmctld stops at a QOS that no database knows.
OF_DATABASE_IN_PARTITIONS = (
    "QOS",
    "AllowQos",
    "DenyQos",
    "AllowAccounts",
    "DenyAccounts",
)
#: (key, token, reason): words added to comma lists of slurm.conf; a token with a value takes the place of
#: another value, since Slurm reads the first that it finds.
TOKENS = (
    ("CommunicationParameters", "NoInAddrAny", _ONE_MACHINE),
    ("CommunicationParameters", "NoCtldInAddrAny", _ONE_MACHINE),
    ("SlurmctldParameters", "node_reg_mem_percent=0.001", "this machine has less memory than the nodes"),
)
#: Clusters of more nodes than this get what `_CROWDED` says.
MANY = 16
_SLOW = "the daemons of many nodes share the cores of one machine, so an answer may take long"
#: (key, value, reason); a greater number of the bundle's own stays.
_CROWDED = (
    (
        "TreeWidth",
        65533,
        "slurmctld speaks to each slurmd itself, since handing messages on saves nothing here",
    ),
    ("MessageTimeout", 100, _SLOW),
    ("TCPTimeout", 60, _SLOW),
)
#: slurmctld calls it an error when UnkillableStepTimeout is less than this many times MessageTimeout.
_UNKILLABLE = 5
#: (first series, CgroupPlugin): the value with which slurmd starts without any cgroup of its own. `disabled`
#: came with 24.05; earlier slurmd insists on a plugin, and v1 starts where no controller is mounted.
CGROUP_PLUGIN = (("24.05", "disabled"), ("22.05", "cgroup/v1"))


def adapt(
    bundle: Bundle, release: Release, expected: Mapping[str, ExpectedNode], no_database: str = ""
) -> tuple[Bundle, tuple[Adaptation, ...]]:
    """The bundle as it will run under `release`, and what was changed for that. `no_database` says why no
    slurmdbd can run; without a slurmdbd.conf none does."""
    main = slurm_conf(bundle)
    _refuse_includes(bundle)
    folder = posixpath.dirname(main.path)
    made: list[Adaptation] = []
    files = {file: file for file in bundle.files}
    if not any(posixpath.basename(file.path) == DATABASE_CONF for file in bundle.files):
        no_database = no_database or _NO_DATABASE
    for file in bundle.files:
        name = posixpath.basename(file.path)
        if file == main:
            files[file] = _slurm_conf(file, no_database, [one.path for one in bundle.files], made)
        elif name == "cgroup.conf":
            files[file] = _cgroup_conf(file, release, made)
        elif name == DATABASE_CONF:
            files[file] = _slurmdbd_conf(file, made)
        elif name == "gres.conf":
            files[file] = _gres_conf(file, main, release, expected, made)
        elif name == "plugstack.conf":
            files[file] = _plugstack_conf(file, made)
    result = list(files.values())
    if not any(posixpath.basename(f.path) == "cgroup.conf" for f in bundle.files):
        path = f"{folder}/cgroup.conf"
        empty = replace(main, path=path, source=posixpath.join(posixpath.dirname(main.source), "cgroup.conf"))
        result.append(_cgroup_conf(replace(empty, text=""), release, made))
    return replace(bundle, files=tuple(sorted(result))), tuple(made)


def _refuse_includes(bundle: Bundle) -> None:
    """Raise InputError for an Include in a file that is adapted: what it brings would run as it is."""
    problems = [
        Problem(
            file.path, one.line, 0, f"Include {one.name} is not followed by a rehearsal; put its lines here"
        )
        for file in bundle.files
        if posixpath.basename(file.path) in _READ_HERE
        for one in parse(file.text, file.path).includes
    ]
    if problems:
        raise InputError(problems)


def _slurm_conf(
    file: BundleFile, no_database: str, paths: Collection[str], made: list[Adaptation]
) -> BundleFile:
    doc = parse(file.text, file.path)
    doc = _taken(doc, site_steps(doc, paths), made)
    wanted: list[changes.Change] = []
    storage = doc.get("AccountingStorageType")
    accounted = storage is not None and storage.value.lower().endswith("slurmdbd")
    leave = no_database if accounted else ""
    of_database = tuple(Rule(key, "", None, leave) for key in _OF_DATABASE) if leave else ()
    in_partitions = OF_DATABASE_IN_PARTITIONS + (("TRESBillingWeights",) if leave else ())
    for rule in (*RULES, *of_database):
        pair = doc.get(rule.key)
        if pair is None or (rule.old and pair.value.lower() != rule.old):
            continue
        made.append(Adaptation(file.path, pair.line, rule.key, pair.value, rule.new or "", rule.reason))
        if rule.new is not None:
            wanted += changes.set_key(doc, rule.key, rule.new)
        else:
            wanted += [c for s in doc.lines(rule.key) for c in comment_out(doc, s)]
    for key, new, why in _crowded(doc):
        pair = doc.get(key)
        made.append(
            Adaptation(file.path, pair.line if pair else 0, key, pair.value if pair else "", new, why)
        )
        wanted += changes.set_key(doc, key, new)
    for key in dict.fromkeys(key for key, _, _ in TOKENS):
        pair = doc.get(key)
        old = pair.value if pair else ""
        value = _with_tokens(old, [token for k, token, _ in TOKENS if k == key])
        if value != old:
            why = next(reason for k, _, reason in TOKENS if k == key)
            made.append(Adaptation(file.path, pair.line if pair else 0, key, old, value, why))
            wanted += changes.set_key(doc, key, value)
    for statement in doc.lines("PartitionName") if accounted else ():
        for key in in_partitions:
            pair = statement.get(key)
            if pair is not None:
                made.append(
                    Adaptation(file.path, pair.line, pair.key, pair.value, "", leave or EMPTY_DATABASE)
                )
                wanted += changes.unset_pair(doc, statement, key)
    return replace(file, text=doc.apply(wanted).text)


def _crowded(doc: Document) -> Iterator[tuple[str, str, str]]:
    """(key, value, reason) of what many nodes need on one machine; time-outs that contradict each other stay,
    so that slurmctld still says so."""
    if sum(len(_hosts(line, "NodeName")) for line in effective_lines(doc, "NodeName")) <= MANY:
        return
    message, step = _number(doc, "MessageTimeout", 10), _number(doc, "UnkillableStepTimeout", None)
    at_odds = message is None or (step is not None and step < _UNKILLABLE * message)
    for key, value, why in _CROWDED:
        own = _number(doc, key, 0)
        if own is None or own >= value or (at_odds and key == "MessageTimeout"):
            continue
        yield key, str(value), why
        if key == "MessageTimeout" and step is not None and step < _UNKILLABLE * value:
            yield "UnkillableStepTimeout", str(_UNKILLABLE * value), f"{_UNKILLABLE} times MessageTimeout"


def _number(doc: Document, key: str, default: int | None) -> int | None:
    """The value of a key; None for what is no number."""
    pair = doc.get(key)
    if pair is None:
        return default
    return int(pair.value) if pair.value.isascii() and pair.value.isdigit() else None


def _taken(doc: Document, steps: Iterable[Step], made: list[Adaptation]) -> Document:
    taken = list(steps)
    made += [step.shown for step in taken]
    return doc.apply(change for step in taken for change in step.changes)


def _slurmdbd_conf(file: BundleFile, made: list[Adaptation]) -> BundleFile:
    """The database is reached by the host's own socket; its password is drawn when it starts."""
    doc = parse(file.text, file.path)
    doc = _taken(doc, auth_steps(doc), made)
    wanted: list[changes.Change] = []
    for key, value in (("StorageHost", "localhost"), ("StoragePass", PASSWORD)):
        pair = doc.get(key)
        if key == "StorageHost" and pair is not None and pair.value.lower() == value:
            continue
        # What stood there may be a secret.
        new = "a password of the rehearsal's own" if key == "StoragePass" else value
        old = "" if pair is None else pair.value
        if key == "StoragePass" and old != PASSWORD:
            old = "not shown" if old else ""
        made.append(Adaptation(file.path, pair.line if pair else 0, key, old, new, _OWN_DATABASE))
        wanted += changes.set_key(doc, key, value)
    for key in ("StoragePassScript", "StoragePort", "StorageParameters", "StorageBackupHost"):
        pair = doc.get(key)
        if pair is not None:
            made.append(Adaptation(file.path, pair.line, key, pair.value, "", _OWN_DATABASE))
            wanted += [c for s in doc.lines(key) for c in comment_out(doc, s)]
    return replace(file, text=doc.apply(wanted).text)


def _with_tokens(text: str, tokens: list[str]) -> str:
    """A comma list that holds these tokens, and no other value for one that has a value."""
    words = [word for word in text.split(",") if word]
    there = {word.lower() for word in words}
    new = [token for token in tokens if token.lower() not in there]
    names = {token.lower().partition("=")[0] for token in new}
    kept = [word for word in words if word.lower().partition("=")[0] not in names]
    return ",".join([*kept, *new]) if new else text


def _cgroup_conf(file: BundleFile, release: Release, made: list[Adaptation]) -> BundleFile:
    doc = parse(file.text, file.path)
    value = next(plugin for series, plugin in CGROUP_PLUGIN if release.at_least(series))
    pair = doc.get("CgroupPlugin")
    made.append(
        Adaptation(
            file.path,
            pair.line if pair else 0,
            "CgroupPlugin",
            pair.value if pair else "",
            value,
            _NO_CGROUP,
        )
    )
    return replace(file, text=doc.set("CgroupPlugin", value).text)


def _plugstack_conf(file: BundleFile, made: list[Adaptation]) -> BundleFile:
    """Plugins of the site are on its own hosts only; `include` of what is not there does no harm."""
    lines = file.text.splitlines(keepends=True)
    for at, line in enumerate(lines):
        words = line.split()
        if len(words) > 1 and words[0] in ("required", "optional"):
            lines[at] = f"# not in a rehearsal: {line}"
            made.append(Adaptation(file.path, at + 1, words[0], " ".join(words[1:]), "", _NO_SPANK))
    return replace(file, text="".join(lines))


def _gres_conf(
    file: BundleFile,
    main: BundleFile,
    release: Release,
    expected: Mapping[str, ExpectedNode],
    made: list[Adaptation],
) -> BundleFile:
    """Stand in for GPU detection: what it would find on this hardware is written as lines."""
    doc = parse(file.text, file.path)
    lines = [s for key in ("AutoDetect", "NodeName", "Name") for s in doc.lines(key)]
    detecting = [s for s in lines if _detects(s)]
    if not detecting:
        return file
    all_nodes = [n for s in effective_lines(parse(main.text), "NodeName") for n in _hosts(s, "NodeName")]

    def where(statement: Statement) -> tuple[str, ...]:
        return _hosts(statement, "NodeName") if statement.get("NodeName") else tuple(all_nodes)

    listed = {n for s in lines if _is_gpu(s) and _has_file(s) for n in where(s)}
    said = {n: _detects(s) for s in doc.lines("NodeName") if s.get("AutoDetect") for n in where(s)}
    everywhere = any(_detects(s) for s in lines if not s.get("NodeName"))
    found = [n for n in dict.fromkeys(all_nodes) if said.get(n, everywhere) and n not in listed]
    wanted: list[changes.Change] = []
    for statement in detecting:
        pair = statement.get("AutoDetect")
        assert pair is not None  # noqa: S101 - selected above
        reason = "GPU detection has no GPUs to find here; its result is stood in for by lines"
        made.append(Adaptation(file.path, pair.line, "AutoDetect", pair.value, "", reason))
        if _has_file(statement):
            wanted += changes.unset_pair(doc, statement, "AutoDetect")
        else:
            wanted += comment_out(doc, statement)
    for statement in lines:
        # A line that only counts GPUs says what detection must find; beside its result they count twice.
        counts = _is_gpu(statement) and not _has_file(statement) and not _detects(statement)
        if counts and not set(found).isdisjoint(where(statement)):
            wanted += comment_out(doc, statement)
    known = [node for node in found if node in expected]
    detected = _detected_lines(known, release, expected)
    wanted += [c for line in detected for c in changes.append_line(doc, line)]
    return replace(file, text=doc.apply(wanted).text)


def _detects(statement: Statement) -> bool:
    pair = statement.get("AutoDetect")
    return pair is not None and pair.value.lower() != "off"


def _is_gpu(statement: Statement) -> bool:
    pair = statement.get("Name")
    return pair is not None and pair.value.lower() == "gpu"


def _has_file(statement: Statement) -> bool:
    return statement.get("File") is not None or statement.get("MultipleFiles") is not None


def _detected_lines(nodes: list[str], release: Release, expected: Mapping[str, ExpectedNode]) -> list[str]:
    by_shape: dict[ExpectedNode, list[str]] = {}
    for node in nodes:
        by_shape.setdefault(expected[node], []).append(node)
    lines = []
    for shape, names in by_shape.items():
        split = shape.layout.splits_sockets
        hosts = fold_for(release, names)
        for gpu in shape.ordered:
            cores = ""
            if gpu.numa is not None:
                first, last = shape.layout.socket_cores(gpu.numa, split)
                cores = f" Cores={first}-{last}"
            name = gpu.type or shape.gpu_type
            kind = f" Type={name}" if name else ""
            key = "MultipleFiles" if gpu.caps else "File"
            lines.append(f"NodeName={hosts} Name=gpu{kind} {key}={','.join(gpu.files)}{cores}")
    return lines


def _hosts(statement: Statement | EffectiveLine, key: str) -> tuple[str, ...]:
    pair = statement.get(key)
    try:
        return expand(pair.value) if pair else ()
    except InputError:
        return ()
