"""Draws inventories from the model's own rules: each renders, and real slurmctld and slurmd take the files.

A draw is data, not a Cluster: it is written to disk and loaded like anybody's. What the rules forbid is not
drawn (an option of another release, GPU 8 of a type with eight), so a draw that is refused has a reason that
the rules do not tell. Such draws are counted with their reasons; more than a fifth of them would mean that
the model lets people write what cannot be rendered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import gpu_model, gpu_models, load_node_type, node_type_names
from slurmwright.catalogue.options import check_setting
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.core.release import SERIES, Release
from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import ExpectedNode, expected_nodes
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import slurm_version
from slurmwright.render import render, render_notes
from slurmwright.topology.cpus import CpuLayout, fold_cpus

RELEASES = ("22.05", "24.11", "26.05")
DRAWS_RENDERED = 150
DRAWS_ON_SLURM = 16
#: Rehearsals at once: most of their time is spent waiting for daemons.
AT_ONCE = 4

Yaml = dict[str, Any]
MAYBE = st.booleans()


@dataclass(frozen=True)
class Inventory:
    """What lies in one inventory folder: cluster.yaml, and facts by host."""

    cluster: Yaml
    facts: dict[str, Yaml] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A node type as it is in the end. `own` is its entry under node_types, None for one of the catalogue."""

    name: str
    own: Yaml | None
    sockets: int
    cores: int
    threads: int
    numa: int
    numbering: str
    gpus: tuple[int | None, ...]
    model: str
    memory_gib: int
    pci: tuple[str, ...] = ()
    block: int = 1

    @property
    def layout(self) -> CpuLayout:
        numbering: Any = self.numbering
        return CpuLayout.regular(self.sockets, self.cores, self.threads, self.numa, numbering)

    @property
    def amd(self) -> bool:
        return bool(self.model) and gpu_model(self.model).vendor == "amd"


# -- node types -------------------------------------------------------------------------------------------


@st.composite
def kinds(draw: st.DrawFn, at: int, amd: bool) -> Kind:
    """A type of the catalogue as it is, one with a change of its own, or one that the file alone knows."""
    origin = draw(st.sampled_from(["catalogue"] * 4 + ["own"]))
    return draw(_of_catalogue(at, amd) if origin == "catalogue" else _alone(at))


@st.composite
def _of_catalogue(draw: st.DrawFn, at: int, amd: bool) -> Kind:
    names = [name for name in node_type_names() if amd or "mi300x" not in name]
    base = load_node_type(draw(st.sampled_from(names)))
    cpu: Yaml = {}
    places = {gpu.index: gpu.numa for gpu in base.gpus}
    gpus: list[int | None] = [places.get(index) for index in range(base.gpu.count)]
    least = 1 + max((numa for numa in gpus if numa is not None), default=0)

    def said(word: str, choices: list[Any]) -> Any:
        value = getattr(base.cpu, word)
        if value is None:
            value = cpu[word] = draw(st.sampled_from(choices))
        return value

    sockets = said("sockets", [2])
    cores = said("cores_per_socket", [32, 48])
    threads = said("threads_per_core", [1, 2])
    parts = [n for n in (1, 2, 4) if cores % n == 0 and sockets * n >= least]
    numa = said("numa_per_socket", parts)
    numbering = said("numbering", ["contiguous", "interleaved"])
    own: Yaml = {"cpu": cpu} if cpu else {}
    memory = base.memory.nominal_gib or (base.memory.real_memory_mb or 0) // 1024
    if not (memory or base.memory.cpu_memory_mb):
        memory = draw(st.sampled_from([256, 1024, 2048]))
        own["memory"] = draw(st.sampled_from([{"nominal_gib": memory}, {"real_memory_mb": memory * 1000}]))
    coarser = [n for n in range(1, numa) if numa % n == 0]
    if not own and coarser and draw(MAYBE):
        new = draw(st.sampled_from(coarser))
        gpus = [None if place is None else place * new // numa for place in gpus]
        own, numa = {"cpu": {"numa_per_socket": new}}, new
    if None in gpus and draw(MAYBE):
        gpus = [index * sockets * numa // len(gpus) for index in range(len(gpus))]
        own["gpus"] = [{"index": index, "numa": place} for index, place in enumerate(gpus)]
    pci = tuple(gpu.pci for gpu in sorted(base.gpus, key=lambda gpu: gpu.index) if gpu.pci)
    name = f"{base.name}-own{at}" if own else base.name
    return Kind(
        name,
        {"extends": base.name, **own} if own else None,
        sockets,
        cores,
        threads,
        numa,
        numbering,
        tuple(gpus),
        base.gpu.model or "",
        memory or (base.memory.cpu_memory_mb or 0) // 1024,
        pci if len(pci) == base.gpu.count and "gpus" not in own else (),
        base.nvlink.block_size or 1,
    )


@st.composite
def _alone(draw: st.DrawFn, at: int) -> Kind:
    """A machine nobody has listed: CPUs alone, or one to sixteen GPUs."""
    sockets, cores, threads = draw(
        st.sampled_from([(1, 64, 2), (2, 24, 1), (2, 96, 2), (4, 16, 2), (1, 4, 1)])
    )
    numa = draw(st.sampled_from([n for n in (1, 2, 4) if cores % n == 0]))
    count = draw(st.sampled_from([0, 0, 1, 2, 4, 7, 8, 16]))
    gpus = tuple(draw(st.integers(0, sockets * numa - 1)) for _ in range(count))
    model = (
        draw(st.sampled_from([m for m in gpu_models() if gpu_model(m).vendor == "nvidia"])) if count else ""
    )
    numbering = draw(st.sampled_from(["contiguous", "interleaved"]))
    memory = draw(st.sampled_from([8, 512, 3072]))
    own: Yaml = {
        "arch": "x86_64",
        "cpu": {
            "sockets": sockets,
            "cores_per_socket": cores,
            "threads_per_core": threads,
            "numa_per_socket": numa,
            "numbering": numbering,
        },
        "memory": {"nominal_gib": memory},
    }
    if count:
        own["gpu"] = {"model": model}
        own["gpus"] = [{"index": index, "numa": place} for index, place in enumerate(gpus)]
    name = f"machine{at}"
    return Kind(name, own, sockets, cores, threads, numa, numbering, gpus, model, memory)


# -- groups of hosts --------------------------------------------------------------------------------------


@st.composite
def _hosts(draw: st.DrawFn, letter: str, count: int) -> tuple[Any, list[str]]:
    """(as written, one by one): padded numbers, several brackets, lists, names that end in letters."""
    first = draw(st.sampled_from(["1", "01", "098", "7"]))
    numbers = [str(int(first) + at).zfill(len(first)) for at in range(count)]
    prefix = draw(st.sampled_from(["gpu", "node-", "rack1-n", "g"])) + letter
    form = draw(st.sampled_from(["range", "range", "list", "grid", "suffix"]))
    if form == "grid" and count == 4:
        names = [f"r{rack}{prefix}{number}" for rack in (1, 2) for number in numbers[:2]]
        return f"r[1-2]{prefix}[{numbers[0]}-{numbers[1]}]", names
    tail = draw(st.sampled_from(["a", "-ib"])) if form == "suffix" else ""
    names = [f"{prefix}{number}{tail}" for number in numbers]
    if count == 1 or form == "list":
        return names if form == "list" else names[0], names
    return f"{prefix}[{numbers[0]}-{numbers[-1]}]{tail}", names


@st.composite
def groups(draw: st.DrawFn, at: int, kind: Kind, count: int, release: Release, nvml: bool) -> Yaml:
    """One group of `count` hosts of this kind, with everything that such hosts may have."""
    written, names = draw(_hosts("abcdef"[at], count))
    group: Yaml = {"hosts": written, "type": kind.name}
    if draw(MAYBE):
        forms = [
            f"10.7{at}.0.[1-{count}]",
            [f"10.7{at}.1.{n + 1}" for n in reversed(range(count))],
            f"ib{at}[1-{count}]",
        ]
        group["address"] = draw(st.sampled_from(forms))
    if draw(MAYBE):
        group["features"] = draw(st.lists(st.sampled_from(["ib", "nvme", "big.2"]), min_size=1, unique=True))
    if draw(MAYBE):
        group["weight"] = draw(st.sampled_from([0, 1, 7, 4294967295]))
    ways: list[str | None] = [None, None, *(["nvml"] if nvml else [])]
    ways += ["nvidia"] if release.at_least("24.11") else []
    unmapped = None in kind.gpus and kind.sockets * kind.numa > 1
    way = draw(st.sampled_from(ways[2:] if unmapped and ways[2:] else ways)) if kind.gpus else None
    if way:
        group["autodetect"] = way
    mig = draw(_mig(kind, way)) if kind.gpus and draw(st.sampled_from([False, False, True])) else []
    if mig:
        group["mig"] = mig
    elif kind.gpus and draw(st.sampled_from([False, False, True])):
        key, most = draw(st.sampled_from([("shards_per_gpu", 8), ("mps_per_gpu", 100)]))
        group[key] = draw(st.sampled_from([1, most]))
    if draw(st.sampled_from([False, False, True])):
        group["exceptions"] = draw(_exceptions(kind, names, way, mig))
    group["options"] = draw(_options(kind, release, bool(mig)))
    return {key: value for key, value in group.items() if value not in ({}, [])}


@st.composite
def _mig(draw: st.DrawFn, kind: Kind, way: str | None) -> list[Yaml]:
    """Layouts of some GPUs with the numbers of their files, or of all GPUs where NVML finds the files."""
    if way == "nvidia":
        return []
    forms: list[Any] = [{"1g.10gb": 7}, ["3g.40gb", "4g.40gb"], ["2g.20gb", "2g.20gb", "3g.40gb"], "7g.80gb"]
    if way == "nvml":
        return [{"gpus": list(range(len(kind.gpus))), "profiles": draw(st.sampled_from(forms))}]
    divided = draw(st.lists(st.integers(0, len(kind.gpus) - 1), min_size=1, max_size=2, unique=True))
    layouts = []
    for index in divided:
        profiles = draw(st.sampled_from(forms))
        number = (
            sum(profiles.values())
            if isinstance(profiles, dict)
            else 1
            if isinstance(profiles, str)
            else len(profiles)
        )
        caps = [[1000 + 135 * index + 9 * one, 1001 + 135 * index + 9 * one] for one in range(number)]
        layouts.append({"gpus": index, "profiles": profiles, "caps": caps})
    return layouts


@st.composite
def _exceptions(draw: st.DrawFn, kind: Kind, names: list[str], way: str | None, mig: list[Yaml]) -> Yaml:
    """One host that has lost, keeps back or has less than its group."""
    entry: Yaml = {}
    count = len(kind.gpus)
    left = list(range(count))
    if count > 2 and not mig and draw(MAYBE):
        entry["gpus_missing"] = [left.pop(draw(st.integers(0, len(left) - 1)))]
    if count > 2 and way is None and draw(MAYBE):
        entry["gpus_withheld"] = [left.pop(draw(st.integers(0, len(left) - 1)))]
    if not entry or draw(MAYBE):
        entry["real_memory_mb"] = draw(st.sampled_from([max(kind.memory_gib * 512, 4096), 4096]))
    return {draw(st.sampled_from(names)): entry}


@st.composite
def _options(draw: st.DrawFn, kind: Kind, release: Release, divided: bool) -> Yaml:
    """Core reservations that leave most cores, and other keys of a node line."""
    per_numa = kind.cores // kind.numa
    free = min((per_numa // max(1, kind.gpus.count(numa)) for numa in kind.gpus), default=0)
    some: list[Yaml] = [{}, {}, {"MemSpecLimit": 1024}, {"TmpDisk": 1000}, {"Port": 7010}]
    if kind.cores >= 16:
        some += [{"CoreSpecCount": 2}, {"CpuSpecList": "0-1"}, {"CoreSpecCount": 1, "MemSpecLimit": 512}]
    if kind.cores >= 16 and free > 3 and not divided:
        some += [{"RestrictedCoresPerGPU": 1}]
    return draw(st.sampled_from([one for one in some if _known(release, "slurm.conf", "NodeName", one)]))


# -- facts ------------------------------------------------------------------------------------------------


@st.composite
def facts_of(draw: st.DrawFn, host: str, kind: Kind, group: Yaml) -> Yaml:
    """What discovery reads on a host that is as cluster.yaml says; the driver numbers GPUs as it likes."""
    layout = kind.layout
    entry = next((one for hosts, one in group.get("exceptions", {}).items() if hosts == host), {})
    missing = entry.get("gpus_missing", [])
    count = len(kind.gpus)
    pci = kind.pci or tuple(f"0000:{16 + 8 * index:02x}:00.0" for index in range(count))
    there = [index for index in range(count) if index not in missing]
    minors = draw(st.permutations(range(len(there))))
    facts: Yaml = {"format": "slurmwright/facts/1", "host": host}
    if draw(st.sampled_from([True, True, False])):
        facts["cpu"] = {
            "threads_per_core": kind.threads,
            "numa": [
                {
                    "id": node.id,
                    "socket": node.socket,
                    "cpus": fold_cpus(cpu for core in node.cores for cpu in core),
                }
                for node in layout.nodes
            ],
        }
    if kind.memory_gib and draw(MAYBE):
        facts["memory"] = {"real_memory_mb": kind.memory_gib * draw(st.sampled_from([1000, 1007]))}
    # The instances of a layout are told with their group; here nobody has looked.
    if "mig" not in group or _needs_facts(kind, group) or draw(MAYBE):
        told = draw(st.sampled_from([True, True, False])) or any(kind.gpus[index] is None for index in there)
        facts["gpus"] = [
            {
                "pci": pci[index].upper() if draw(MAYBE) else pci[index],
                "minor": minor,
                **({"numa": _place(kind, index)} if told else {}),
            }
            for index, minor in zip(there, minors, strict=True)
        ]
    return facts


def _place(kind: Kind, index: int) -> int:
    known = kind.gpus[index]
    return index * kind.sockets * kind.numa // len(kind.gpus) if known is None else known


# -- the cluster around them ------------------------------------------------------------------------------

_TIMES = ("90", "12:00:00", "7-00:00:00", "2-12", "UNLIMITED", 240)
_PARTITION_OPTIONS: list[Yaml] = [
    *({}, {}, {"OverSubscribe": "FORCE:2"}, {"OverSubscribe": "EXCLUSIVE"}, {"MaxNodes": 1}, {"LLN": True}),
    *(
        {"DefMemPerGPU": 1000, "DefCpuPerGPU": 2},
        {"DefMemPerNode": 2000},
        {"MaxMemPerNode": 4000, "Hidden": True},
    ),
    *({"PreemptMode": "OFF", "GraceTime": 60}, {"AllowGroups": ["root", "wheel"]}, {"ExclusiveUser": True}),
    *({"MaxCPUsPerNode": 16}, {"MaxCPUsPerSocket": 8}, {"PowerDownOnIdle": False}, {"Exclusive": "USER"}),
    *(
        {"PriorityJobFactor": 10},
        {"RootOnly": False},
        {"ExclusiveTopo": True},
        {"TRESBillingWeights": "CPU=1.0"},
    ),
]
_OVERRIDES: list[tuple[str, Yaml]] = [
    ("slurm.conf", {"SchedulerParameters": {"bf_max_job_test": 500, "bf_continue": False, "defer": True}}),
    ("slurm.conf", {"SchedulerParameters": ["bf_window=10080", "bf_resolution=600"]}),
    ("slurm.conf", {"MessageTimeout": 45, "SlurmdTimeout": 600, "TCPTimeout": 5, "InactiveLimit": 60}),
    ("slurm.conf", {"SlurmctldDebug": "verbose", "SlurmdDebug": "debug", "LogTimeFormat": "iso8601_ms"}),
    (
        "slurm.conf",
        {"PriorityWeightPartition": None, "PriorityDecayHalfLife": "14-0", "PriorityMaxAge": "7-0"},
    ),
    ("slurm.conf", {"SlurmctldParameters": {"enable_configless": False, "idle_on_node_suspend": True}}),
    (
        "slurm.conf",
        {
            "SlurmctldParameters": ["enable_configless", "reboot_from_controller"],
            "RebootProgram": "/opt/boot",
        },
    ),
    ("slurm.conf", {"SlurmctldPort": "6820-6823", "SlurmdPort": 7003, "SrunPortRange": "60001-63000"}),
    ("slurm.conf", {"SlurmdSpoolDir": "/var/lib/slurmd/%n", "SlurmdLogFile": "/var/log/slurmd.%n.log"}),
    ("slurm.conf", {"SlurmctldLogFile": "/var/log/slurmctld.log", "SlurmctldPidFile": "/run/slurm/ctld.pid"}),
    ("slurm.conf", {"MaxJobCount": 50000, "MaxArraySize": 10001, "MaxStepCount": 1000, "MinJobAge": 300}),
    ("slurm.conf", {"TaskPlugin": "task/affinity", "ProctrackType": "proctrack/linuxproc"}),
    ("slurm.conf", {"SelectTypeParameters": ["CR_Core_Memory", "CR_CORE_DEFAULT_DIST_BLOCK"]}),
    ("slurm.conf", {"SelectTypeParameters": "CR_CPU_Memory"}),
    ("slurm.conf", {"PrologFlags": {"Alloc": True, "X11": True}, "LaunchParameters": {"send_gids": True}}),
    ("slurm.conf", {"PreemptType": "preempt/partition_prio", "PreemptMode": "REQUEUE"}),
    (
        "slurm.conf",
        {"ReturnToService": 2, "KillWait": 60, "HealthCheckInterval": 120, "DisableRootJobs": False},
    ),
    ("slurm.conf", {"ResumeTimeout": None, "RebootProgram": None, "TreeWidth": 32, "GroupUpdateForce": True}),
    ("slurm.conf", {"JobCompType": "jobcomp/filetxt", "JobCompLoc": "/var/log/slurm/jobcomp.log"}),
    ("slurm.conf", {"MailProg": "/usr/bin/mail", "SlurmSchedLogFile": "/var/log/slurm/sched.log"}),
    ("slurm.conf", {"messagetimeout": 20, "PropagateResourceLimitsExcept": ["MEMLOCK", "NOFILE"]}),
    ("slurm.conf", {"DefMemPerGPU": 2000, "DefCpuPerGPU": 4}),
    ("cgroup.conf", {"ConstrainSwapSpace": True, "AllowedRAMSpace": 99.5}),
    ("cgroup.conf", {"ConstrainDevices": False, "MinRAMSpace": 64}),
    ("cgroup.conf", {"EnableControllers": True, "IgnoreSystemd": False}),
]
_DATABASE_OVERRIDES: list[tuple[str, Yaml]] = [
    ("slurmdbd.conf", {"PurgeJobAfter": "60months", "DebugLevel": "verbose"}),
    ("slurmdbd.conf", {"MessageTimeout": 60, "CommitDelay": 1, "PurgeUsageAfter": None}),
    ("slurm.conf", {"AccountingStoreFlags": ["job_comment", "job_script"], "PriorityWeightFairshare": 5}),
]


@st.composite
def inventories(draw: st.DrawFn, series: str, amd: bool = True) -> Inventory:
    """A whole inventory for a release; without `amd` none of the types that are listed but not rendered."""
    patch = draw(st.sampled_from([None, None, 3]))
    release = Release(series, patch)
    nvml = draw(MAYBE)
    found = [draw(kinds(at, amd)) for at in range(draw(st.integers(1, 3)))]
    named = {kind.name: kind for kind in found}
    rows = []
    for at in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(list(named.values())))
        count = draw(st.sampled_from([1, 2, 3, 4] if not rows else [1, 2]))
        rows.append((kind, draw(groups(at, kind, count, release, nvml))))
    cluster: Yaml = {
        "name": draw(st.sampled_from(["drawn", "pod-1", "a_b", "x" * 40])),
        "slurm": draw(_slurm(release, nvml)),
        "control": draw(_control()),
        "nodes": [group for _, group in rows],
        "node_types": {k.name: k.own for k, _ in rows if k.own is not None},
    }
    cluster |= draw(_network(release, rows))
    cluster |= draw(_on_the_nodes())
    with_database = "database" in cluster["control"]
    if draw(MAYBE):
        cluster["accounting"] = draw(_accounting(with_database, rows))
    counted = with_database and cluster.get("accounting", True) is not False
    cluster["partitions"] = draw(_partitions(release, [group for _, group in rows], counted))
    overrides = draw(_overrides(release, counted))
    if overrides:
        cluster["overrides"] = overrides
    facts = {}
    for kind, group in rows:
        if not kind.amd and (draw(st.sampled_from([False, True])) or _needs_facts(kind, group)):
            some = hosts_of(group)
            only = some if _needs_facts(kind, group) else some[: draw(st.integers(1, len(some)))]
            facts |= {host: draw(facts_of(host, kind, group)) for host in only}
    return Inventory({key: value for key, value in cluster.items() if value not in ({}, [])}, facts)


def hosts_of(group: Yaml) -> list[str]:
    written = group["hosts"]
    return [host for one in ([written] if isinstance(written, str) else written) for host in expand(one)]


def _needs_facts(kind: Kind, group: Yaml) -> bool:
    """Nothing else tells where its GPUs are."""
    return None in kind.gpus and kind.sockets * kind.numa > 1 and "autodetect" not in group


def _known(release: Release, file: str, section: str, settings_: Yaml) -> bool:
    """The release takes every one of these options; the rule is the catalogue's."""
    return not any(
        check_setting(release, file, section, key, _text(value)) for key, value in settings_.items()
    )


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(
            key if one is True else f"{key}={one}" for key, one in value.items() if one is not False
        )
    if isinstance(value, list):
        return ",".join(value)
    return {True: "yes", False: "no", None: "1"}[value] if value in (True, False, None) else str(value)


@st.composite
def _slurm(draw: st.DrawFn, release: Release, nvml: bool) -> Yaml:
    words: Yaml = {"release": str(release)}
    if nvml or draw(MAYBE):
        words["nvml"] = nvml
    if draw(st.sampled_from([False, False, True])):
        words["user"] = draw(st.sampled_from(["slurm", "slurm-ctl", "root"]))
    if draw(st.sampled_from([False, False, True])):
        words["config_dir"] = draw(st.sampled_from(["/etc/slurm", "/opt/slurm/etc"]))
    if release.at_least("24.05") and draw(st.sampled_from([False, False, False, True])):
        words["imex"] = True
    return words


@st.composite
def _control(draw: st.DrawFn) -> Yaml:
    first = draw(st.sampled_from(["ctl1", {"host": "ctl1", "address": "10.1.0.1"}]))
    control: Yaml = {"controllers": draw(st.sampled_from(["ctl1", [first]]))}
    if draw(MAYBE):
        control = {"controllers": [first, "ctl2"], "state_dir": "/shared/slurm/state"}
    elif draw(MAYBE):
        control["state_dir"] = "/var/lib/slurm/state"
    if draw(MAYBE):
        control["login"] = draw(
            st.sampled_from(["login[1-2]", ["login1"], [{"host": "l1", "address": "10.1.0.9"}]])
        )
    if draw(st.sampled_from([False, False, True])):
        control["database"] = draw(st.sampled_from(["db1", "ctl1", {"host": "db1", "address": "10.1.0.5"}]))
    return control


@st.composite
def _network(draw: st.DrawFn, release: Release, rows: list[tuple[Kind, Yaml]]) -> Yaml:
    """Racks go into the groups, fabric and topology beside them."""
    words: Yaml = {}
    counts = [len(hosts_of(group)) for _, group in rows]
    kind = draw(st.sampled_from([None, "flat", "tree", "tree", "block", "block"]))
    size = draw(st.sampled_from([n for n in (1, 2, 4) if all(count % n == 0 for count in counts)]))
    for at, (_, group) in enumerate(rows):
        if kind == "tree" or draw(MAYBE):
            racks = -(-counts[at] // size)
            names = f"rack{at}-[1-{racks}]" if racks > 1 else f"rack{at}"
            group["racks"] = draw(st.sampled_from([{"size": size}, {"size": size, "names": names}]))
    if draw(MAYBE):
        words["fabric"] = draw(
            st.sampled_from(
                [{"kind": "infiniband", "rate_gbps": 400, "rails": 8}, {"kind": "efa"}, {"kind": "none"}]
            )
        )
    if kind is None or (kind == "block" and not release.at_least("23.11")):
        return words
    topology: Yaml = {"kind": kind}
    if release.at_least("25.05.2") and draw(MAYBE):
        topology["format"] = "yaml"
    if kind == "tree":
        topology |= draw(st.sampled_from([{}, {"size": size}, {"levels": [2]}, {"levels": [3, 2]}]))
    if kind == "block":
        topology["size"] = size
        blocks = sum(count // size for count in counts)
        if release.at_least("24.05") and draw(MAYBE):
            topology["base"] = draw(st.integers(1, size))
        if blocks % 2 == 0 and draw(MAYBE):
            topology["levels"] = [2]
    return {**words, "topology": kind if topology == {"kind": kind} else topology}


@st.composite
def _on_the_nodes(draw: st.DrawFn) -> Yaml:
    words: Yaml = {}
    if draw(MAYBE):
        words["scratch"] = {"base": draw(st.sampled_from(["/local/scratch", "/raid"]))}
        if draw(MAYBE):
            words["scratch"]["private_tmp"] = draw(MAYBE)
    if draw(st.sampled_from([False, False, True])):
        words["containers"] = {"runtime": "enroot-pyxis"}
        if draw(MAYBE):
            words["containers"]["plugin"] = "/opt/pyxis/spank_pyxis.so"
    return words


@st.composite
def _accounting(draw: st.DrawFn, with_database: bool, rows: list[tuple[Kind, Yaml]]) -> Any:
    if not with_database:
        return False
    model = next((kind.model for kind, _ in rows if kind.model), "")
    weights: Yaml = {"cpu": 1, "mem_gb": 0.25, "gpu": 100}
    if model:
        weights[f"gpu:{gpu_model(model).slurm_type}"] = 200
    if not all(kind.gpus for kind, _ in rows):
        weights = {"cpu": 1, "mem_gb": 0.25}
    passwords = [{"file": "/root/db.password"}, {"vault": "slurm_db_password"}]
    words: Yaml = {"billing": draw(st.sampled_from([True, False, weights, {"cpu": 2}]))}
    if draw(MAYBE):
        words["storage_password"] = draw(st.sampled_from(passwords))
    return draw(st.sampled_from([True, False, words, {"enabled": True}]))


@st.composite
def _partitions(draw: st.DrawFn, release: Release, nodes: list[Yaml], counted: bool) -> list[Yaml]:
    features = sorted({feature for group in nodes for feature in group.get("features", [])})
    choices: list[Any] = [{"type": draw(st.sampled_from([group["type"] for group in nodes]))}]
    choices += [{"hosts": draw(st.sampled_from(nodes))["hosts"]}, {"hosts": hosts_of(nodes[-1])[:1]}]
    choices += [{"feature": features[:2]}] if features else []
    options = [one for one in _PARTITION_OPTIONS if _known(release, "slurm.conf", "PartitionName", one)]
    options = [one for one in options if counted or "TRESBillingWeights" not in one]
    rows: list[Yaml] = []
    for at in range(draw(st.integers(1, 3))):
        row: Yaml = {"name": f"p{at}", "nodes": draw(st.sampled_from(choices)) if at else "all"}
        if draw(MAYBE):
            row["max_time"] = draw(st.sampled_from(_TIMES))
        if draw(MAYBE):
            row["default_time"] = draw(st.sampled_from(["60", 30]))
        if draw(MAYBE):
            row["state"] = draw(st.sampled_from(["UP", "DOWN", "DRAIN", "INACTIVE"]))
        if draw(MAYBE):
            row["priority_tier"] = draw(st.sampled_from([0, 1, 65533]))
        own = draw(st.sampled_from(options))
        rows.append({**row, **({"options": own} if own else {})})
    if draw(MAYBE):
        rows[0]["default"] = True
    return rows


@st.composite
def _overrides(draw: st.DrawFn, release: Release, counted: bool) -> Yaml:
    table = [*_OVERRIDES, *(_DATABASE_OVERRIDES if counted else [])]
    taken: Yaml = {}
    for file, wanted in draw(st.lists(st.sampled_from(table), max_size=3)):
        there = {key.lower() for key in taken.get(file, {})}
        new = {key: value for key, value in wanted.items() if key.lower() not in there}
        if _known(release, file, "global", new):
            taken.setdefault(file, {}).update(new)
    return taken


# -- the property -----------------------------------------------------------------------------------------


class _Plain(yaml.SafeDumper):
    """Writes a value out wherever it stands: anchors and aliases are no part of the YAML that is taken."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _yaml(data: Yaml) -> str:
    return yaml.dump(data, Dumper=_Plain, sort_keys=False)


def _write(folder: Path, drawn: Inventory) -> Path:
    (folder / "facts").mkdir(exist_ok=True)
    for old in (folder / "facts").iterdir():
        old.unlink()
    (folder / "cluster.yaml").write_text(_yaml(drawn.cluster), encoding="utf-8")
    for host, facts in drawn.facts.items():
        (folder / "facts" / f"{host}.yaml").write_text(_yaml(facts), encoding="utf-8")
    return folder


@pytest.fixture
def refused() -> Iterator[Counter[str]]:
    """Counts outcomes of a test's draws; "rendered" is one of them."""
    counts: Counter[str] = Counter()
    yield counts
    total = sum(counts.values())
    lines = "".join(f"\n  {number:4d} {why}" for why, number in counts.most_common())
    print(f"\n{total} draws:{lines}")
    assert total - counts["rendered"] <= total / 5


def _rendered(counts: Counter[str], folder: Path, drawn: Inventory) -> Bundle | None:
    """What the commands do with an inventory; None where they refuse it with a message."""
    try:
        cluster = load_cluster(_write(folder, drawn))
        facts = load_facts(folder)
        check_facts(cluster, facts, folder)
        bundle = render(cluster, facts)
        render_notes(cluster, facts)
    except InputError as error:
        counts[error.problems[0].message] += 1
        return None
    counts["rendered"] += 1
    return bundle


def test_drawn_clusters_render_in_every_release(tmp_path: Path, refused: Counter[str]) -> None:
    @settings(max_examples=DRAWS_RENDERED, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(SERIES).flatmap(inventories))
    def draw(drawn: Inventory) -> None:
        _rendered(refused, tmp_path, drawn)

    draw()


@dataclass(frozen=True)
class Case:
    drawn: Inventory
    bundle: Bundle
    expected: dict[str, ExpectedNode]


@pytest.mark.rehearsal
@pytest.mark.parametrize("series", RELEASES)
def test_real_slurm_takes_drawn_clusters(
    slurm_root: Callable[[str], Path], tmp_path: Path, refused: Counter[str], series: str
) -> None:
    root = slurm_root(series)
    version = slurm_version(root)
    cases: list[Case] = []

    @settings(
        max_examples=DRAWS_ON_SLURM,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(inventories(series, amd=False))
    def draw(drawn: Inventory) -> None:
        bundle = _rendered(refused, tmp_path, drawn)
        if bundle is not None:
            expected = expected_nodes(load_cluster(tmp_path), load_facts(tmp_path))
            cases.append(Case(drawn, bundle, expected))

    draw()

    def run(case: Case) -> list[Any]:
        slurm = SlurmRoot(root)
        result = rehearse(case.bundle, (), case.expected, slurm, version, lambda *_: None, jobs=False)
        return [verdict for verdict in result.scenarios if not verdict.passed]

    with ThreadPoolExecutor(AT_ONCE) as pool:
        failed = [(bad, case.drawn) for bad, case in zip(pool.map(run, cases), cases, strict=True) if bad]
    assert not failed
