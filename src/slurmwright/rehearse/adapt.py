"""Turns a bundle into the bundle that can run on one machine, and lists each difference with its reason.

What cannot work without real hardware or root's own cgroups is replaced, everything else stays byte for byte;
a key that must go is commented out, so that line numbers in Slurm's messages stay those of the bundle.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace

from slurmwright.conf import Document, EffectiveLine, Statement, changes, effective_lines, parse
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold
from slurmwright.core.release import Release
from slurmwright.rehearse.cast import slurm_conf
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.values import Adaptation

_NO_CGROUP = "a rehearsal leaves this machine's cgroups alone"
_NO_DATABASE = "no slurmdbd runs in this rehearsal"
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
#: (key, token, reason): words added to comma lists of slurm.conf.
TOKENS = (
    ("CommunicationParameters", "NoInAddrAny", _ONE_MACHINE),
    ("CommunicationParameters", "NoCtldInAddrAny", _ONE_MACHINE),
    ("SlurmctldParameters", "node_reg_mem_percent=0.5", "this machine has less memory than the nodes"),
)
#: (first series, CgroupPlugin): the value with which slurmd starts without any cgroup of its own. `disabled`
#: came with 24.05; earlier slurmd insists on a plugin, and v1 starts where no controller is mounted.
CGROUP_PLUGIN = (("24.05", "disabled"), ("22.05", "cgroup/v1"))


def adapt(
    bundle: Bundle, release: Release, expected: Mapping[str, ExpectedNode]
) -> tuple[Bundle, tuple[Adaptation, ...]]:
    """The bundle as it will run under `release`, and what was changed for that."""
    main = slurm_conf(bundle)
    folder = posixpath.dirname(main.path)
    made: list[Adaptation] = []
    files = {file: file for file in bundle.files}
    for file in bundle.files:
        name = posixpath.basename(file.path)
        if file == main:
            files[file] = _slurm_conf(file, made)
        elif name == "cgroup.conf":
            files[file] = _cgroup_conf(file, release, made)
        elif name == "gres.conf":
            files[file] = _gres_conf(file, main, expected, made)
    result = list(files.values())
    if not any(posixpath.basename(f.path) == "cgroup.conf" for f in bundle.files):
        path = f"{folder}/cgroup.conf"
        empty = replace(main, path=path, source=posixpath.join(posixpath.dirname(main.source), "cgroup.conf"))
        result.append(_cgroup_conf(replace(empty, text=""), release, made))
    return replace(bundle, files=tuple(sorted(result))), tuple(made)


def _slurm_conf(file: BundleFile, made: list[Adaptation]) -> BundleFile:
    doc = parse(file.text, file.path)
    wanted: list[changes.Change] = []
    no_database = doc.get("AccountingStorageType") is not None
    of_database = tuple(Rule(key, "", None, _NO_DATABASE) for key in _OF_DATABASE) if no_database else ()
    for rule in (*RULES, *of_database):
        pair = doc.get(rule.key)
        if pair is None or (rule.old and pair.value.lower() != rule.old):
            continue
        made.append(Adaptation(file.path, pair.line, rule.key, pair.value, rule.new or "", rule.reason))
        if rule.new is not None:
            wanted += changes.set_key(doc, rule.key, rule.new)
        else:
            wanted += [c for s in doc.lines(rule.key) for c in _comment_out(doc, s)]
    for key in dict.fromkeys(key for key, _, _ in TOKENS):
        pair = doc.get(key)
        old = pair.value if pair else ""
        words = [word for word in old.split(",") if word]
        new = [(t, why) for k, t, why in TOKENS if k == key and t.lower() not in old.lower()]
        if new:
            value = ",".join([*words, *(token for token, _ in new)])
            made.append(Adaptation(file.path, pair.line if pair else 0, key, old, value, new[0][1]))
            wanted += changes.set_key(doc, key, value)
    for statement in doc.lines("PartitionName") if no_database else ():
        weights = statement.get("TRESBillingWeights")
        if weights is not None:
            made.append(
                Adaptation(file.path, weights.line, "TRESBillingWeights", weights.value, "", _NO_DATABASE)
            )
            wanted += changes.unset_pair(doc, statement, "TRESBillingWeights")
    return replace(file, text=doc.apply(wanted).text)


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


def _gres_conf(
    file: BundleFile, main: BundleFile, expected: Mapping[str, ExpectedNode], made: list[Adaptation]
) -> BundleFile:
    """Stand in for GPU detection: what it would find on this hardware is written as lines."""
    doc = parse(file.text, file.path)
    detecting = [
        s
        for key in ("AutoDetect", "NodeName", "Name")
        for s in doc.lines(key)
        if (pair := s.get("AutoDetect")) is not None and pair.value.lower() != "off"
    ]
    if not detecting:
        return file
    listed = {n for s in doc.lines("NodeName") if s.get("File") for n in _hosts(s, "NodeName")}
    all_nodes = {n for s in effective_lines(parse(main.text), "NodeName") for n in _hosts(s, "NodeName")}
    wanted: list[changes.Change] = []
    for statement in detecting:
        pair = statement.get("AutoDetect")
        assert pair is not None  # noqa: S101 - selected above
        where = _hosts(statement, "NodeName") if statement.get("NodeName") else all_nodes
        reason = "GPU detection has no GPUs to find here; its result is stood in for by lines"
        made.append(Adaptation(file.path, pair.line, "AutoDetect", pair.value, "", reason))
        if statement.get("File"):
            wanted += changes.unset_pair(doc, statement, "AutoDetect")
            continue
        wanted += _comment_out(doc, statement)
        nodes = [n for n in where if n in expected and n not in listed]
        wanted += [c for line in _detected_lines(nodes, expected) for c in changes.append_line(doc, line)]
    return replace(file, text=doc.apply(wanted).text)


def _detected_lines(nodes: list[str], expected: Mapping[str, ExpectedNode]) -> list[str]:
    by_shape: dict[ExpectedNode, list[str]] = {}
    for node in nodes:
        by_shape.setdefault(expected[node], []).append(node)
    lines = []
    for shape, names in by_shape.items():
        split = shape.layout.splits_sockets
        for gpu in sorted(shape.gpus, key=lambda g: g.minor):
            cores = ""
            if gpu.numa is not None:
                first, last = shape.layout.socket_cores(gpu.numa, split)
                cores = f" Cores={first}-{last}"
            lines.append(
                f"NodeName={fold(names)} Name=gpu Type={shape.gpu_type} File=/dev/nvidia{gpu.minor}{cores}"
            )
    return lines


def _hosts(statement: Statement | EffectiveLine, key: str) -> tuple[str, ...]:
    pair = statement.get(key)
    try:
        return expand(pair.value) if pair else ()
    except InputError:
        return ()


def _comment_out(doc: Document, statement: Statement) -> changes.Changes:
    first = doc.text[statement.start : statement.end].splitlines()[0]
    return changes.replace_line(doc, statement, f"# not in a rehearsal: {first}")
