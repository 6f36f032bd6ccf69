"""The effects of changes on real daemons with jobs running: what the plan says is what they do.

One small cluster for each release; every case changes what the case before left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from slurmwright.apply.live import read_live
from slurmwright.apply.nodes import NodeControl, admit, wait_until_empty
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.release import Release
from slurmwright.core.run import Result
from slurmwright.plan import compare
from slurmwright.plan.drift import drift_of
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.planned import both, judged, started, submit
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.topology.cpus import CpuLayout
from slurmwright.verify.values import Check, Report

pytestmark = pytest.mark.rehearsal
RELEASES = ("22.05", "24.11", "26.05")
SHAPE = ExpectedNode(
    "small",
    CpuLayout.regular(2, 4, 1, 1, "contiguous"),
    "h100",
    tuple(ExpectedGpu(minor, minor // 2, "h100") for minor in range(4)),
    False,
    None,
)
NODES = [f"n{number}" for number in range(1, 6)]
SLURM = """\
ClusterName=lab
SlurmctldHost=ctl1
SlurmUser=root
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldParameters=enable_configless
ReturnToService=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
KillWait=5
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=db1
NodeName=n[1-4] CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=4 RealMemory=2000 Gres=gpu:h100:4
PartitionName=all Nodes=ALL Default=YES
"""
GRES = """\
NodeName=n[1-5] Name=gpu Type=h100 File=/dev/nvidia[0-1]
NodeName=n[1-5] Name=gpu Type=h100 File=/dev/nvidia[2-3]
"""
DATABASE = """\
DbdHost=db1
SlurmUser=root
StorageType=accounting_storage/mysql
StorageUser=slurm
StoragePass=@SLURMWRIGHT_STORAGE_PASSWORD@
LogFile=/var/log/slurm/slurmdbd.log
PidFile=/run/slurmdbd.pid
"""
ACCOUNTED = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=db1\n"
#: Stands for what is added after `adapt`, which takes TaskPlugin out of slurm.conf.
TASKS = "added here"
#: (what, file, old, new): each on top of those before it.
CASES = [
    ("RealMemory", "slurm.conf", "RealMemory=2000", "RealMemory=1900"),
    ("accounting off", "slurm.conf", ACCOUNTED, ""),
    ("accounting on", "slurm.conf", "KillWait=5\n", f"KillWait=5\n{ACCOUNTED}"),
    ("a global option", "slurm.conf", "KillWait=5", "KillWait=7"),
    ("partition added", "slurm.conf", "Default=YES\n", "Default=YES\nPartitionName=some Nodes=n[1-2]\n"),
    ("partition changed", "slurm.conf", "Nodes=n[1-2]", "Nodes=n[1-2] MaxTime=60"),
    ("partition removed", "slurm.conf", "PartitionName=some Nodes=n[1-2] MaxTime=60\n", ""),
    ("node added", "slurm.conf", "NodeName=n[1-4]", "NodeName=n[1-5]"),
    ("node removed", "slurm.conf", "NodeName=n[1-5]", "NodeName=n[1-4]"),
    ("GPU cores", "gres.conf", "nvidia[2-3]", "nvidia[2-3] Cores=4-7"),
    ("GPU count", "*", "", ""),
    ("GPU type", "*", "", ""),
    ("cgroup.conf", "cgroup.conf", "AllowedRAMSpace=100", "AllowedRAMSpace=98"),
    # Before what select/linear does not start with: shards, MaxNodeCount, a switch tree (rule SE012).
    ("SelectType", "*", "", ""),
    ("SelectType back", "*", "", ""),
    ("GresTypes", "slurm.conf", "GresTypes=gpu", "GresTypes=gpu,shard"),
    ("topology", "*", "", ""),
    ("MaxNodeCount", "slurm.conf", "KillWait=7", "KillWait=7\nMaxNodeCount=20"),
    ("SelectTypeParameters", "slurm.conf", "CR_Core_Memory", "CR_Core"),
    ("TaskPlugin", TASKS, "", "TaskPlugin=task/affinity\n"),
    ("TaskPlugin back", TASKS, "TaskPlugin=task/affinity\n", ""),
    ("SlurmctldPort", "slurm.conf", "KillWait=7", "KillWait=7\nSlurmctldPort=6827"),
    ("SlurmdPort", "slurm.conf", "KillWait=7", "KillWait=7\nSlurmdPort=6828"),
    (
        "cores of a node",
        "slurm.conf",
        "CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=4",
        "CPUs=4 Boards=1 SocketsPerBoard=2 CoresPerSocket=2",
    ),
]
WIDE = {
    "GPU count": (
        ("slurm.conf", "Gres=gpu:h100:4", "Gres=gpu:h100:2"),
        ("gres.conf", "NodeName=n[1-5] Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=4-7\n", ""),
    ),
    "GPU type": (
        ("slurm.conf", "Gres=gpu:h100:2", "Gres=gpu:h200:2"),
        ("gres.conf", "Type=h100", "Type=h200"),
    ),
    "SelectType": (
        ("slurm.conf", "select/cons_tres", "select/linear"),
        ("slurm.conf", "CR_Core_Memory", "CR_Memory"),
    ),
    "SelectType back": (
        ("slurm.conf", "select/linear", "select/cons_tres"),
        ("slurm.conf", "CR_Memory", "CR_Core_Memory"),
    ),
    "topology": (
        ("slurm.conf", "KillWait=7", "KillWait=7\nTopologyPlugin=topology/tree"),
        (
            "topology.conf",
            "",
            "SwitchName=leaf1 Nodes=n[1-2]\nSwitchName=leaf2 Nodes=n[3-4]\n"
            "SwitchName=top Switches=leaf[1-2]\n",
        ),
    ),
}


def first(series: str) -> Bundle:
    files = {"slurm.conf": SLURM, "gres.conf": GRES, "cgroup.conf": "AllowedRAMSpace=100\n"}
    held = [
        BundleFile(f"/etc/slurm/{name}", name, "ctl1", "root", "root", "0644", text)
        for name, text in files.items()
    ]
    held.append(
        BundleFile("/etc/slurm/slurmdbd.conf", "slurmdbd.conf", "db1", "root", "root", "0600", DATABASE)
    )
    return Bundle("lab", series, tuple(sorted(held)))


def changed(bundle: Bundle, name: str, old: str, new: str) -> Bundle:
    path = f"/etc/slurm/{name}"
    file = bundle.find(path) or BundleFile(path, name, "ctl1", "root", "root", "0644", "")
    assert old in file.text, f"{name} holds no {old!r}"
    others = tuple(one for one in bundle.files if one.path != path)
    text = file.text.replace(old, new) if old else file.text + new
    return replace(bundle, files=tuple(sorted((*others, replace(file, text=text)))))


class Running:
    """A cluster of one release, and the bundle that it runs now."""

    def __init__(self, series: str, folder: Path, stack: ExitStack) -> None:
        self.series = series
        self.shapes = dict.fromkeys(NODES, SHAPE)
        self.tasks = ""
        self.now = first(series)
        every = changed(self.now, "slurm.conf", "NodeName=n[1-4]", "NodeName=n[1-5]")
        sandbox = stack.enter_context(Sandbox())
        self.machine: Machine = started(
            sandbox, SlurmRoot(folder), both(self.here(self.now), every), self.here(self.now), self.shapes
        )

    def here(self, bundle: Bundle) -> Bundle:
        here = adapt(bundle, Release.parse(self.series), self.shapes)[0]
        return changed(here, "slurm.conf", "", self.tasks) if self.tasks else here


@pytest.fixture(scope="module", params=RELEASES)
def cluster(request: pytest.FixtureRequest, slurm_root: Callable[[str], Path]) -> Iterator[Running]:
    with ExitStack() as stack:
        yield Running(request.param, slurm_root(request.param), stack)


@pytest.mark.parametrize(("what", "file", "old", "new"), CASES, ids=[case[0] for case in CASES])
def test_the_daemons_do_what_the_plan_says(
    cluster: Running, what: str, file: str, old: str, new: str
) -> None:
    target, former = cluster.now, cluster.here(cluster.now)
    if file == TASKS:
        cluster.tasks = new
    else:
        for name, left, right in WIDE.get(what, ((file, old, new),)):
            target = changed(target, name, left, right)
    plan = compare(former, cluster.here(target))
    assert plan.changes
    jobs = submit(cluster.machine, plan)
    assert len(jobs) >= 4, "every node has a job"
    verdicts = judged(cluster.machine, plan, cluster.here(target))
    cluster.now = target
    faults = {verdict.name: verdict.evidence for verdict in verdicts if verdict.failed}
    assert faults == {}, plan.summary
    survived = next(verdict for verdict in verdicts if verdict.name == "jobs-survive")
    assert survived.passed or len(plan.drain_first) == 4, survived.evidence


class OnHosts:
    """The hosts of the running cluster as apply reaches hosts."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        enter = f"{self.machine.sandbox.folder}/hosts/{host}/enter"
        return self.machine.sandbox.run(["sh", enter, *argv], stdin=stdin, limit_s=limit_s)

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        raise AssertionError("nothing is put anywhere")


def submitted(machine: Machine, *words: str) -> str:
    done = machine.ctl("sbatch", "--parsable", "-o", "/dev/null", "-w", "n4", *words, "--wrap", "sleep 600")
    assert done.ok, done.err
    return done.out.strip()


def state_of(machine: Machine, job: str) -> str:
    return machine.ctl("squeue", "-h", "-o", "%T", "-j", job).out.strip()


def eventually(look: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not (seen := look()) and time.monotonic() < end:
        time.sleep(0.2)
    return seen


@pytest.mark.parametrize("passes", [True, False])
def test_a_new_node_is_tried_where_no_other_job_can_start(cluster: Running, passes: bool) -> None:
    machine = cluster.machine
    control = NodeControl(OnHosts(machine), ["ctl1"], Release.parse(cluster.series))
    control.drain(["n4"], "new")
    machine.ctl("scancel", *(job.number for job in control.jobs(["n4"])))
    assert wait_until_empty(control, ["n4"], 60, lambda _: None, time.sleep) == ()
    seen: list[str] = []

    def verify(reservation: str) -> Report:
        other, mine = submitted(machine), submitted(machine, f"--reservation={reservation}")
        assert eventually(lambda: state_of(machine, mine) == "RUNNING")
        seen.append(state_of(machine, other))
        machine.ctl("scancel", other, mine)
        eventually(lambda: not control.jobs(["n4"]))
        fault = Finding("verify/x", "x", Severity.ERROR, "no GPU", host="n4")
        return Report("lab", (Check("x", "n4", passes, ("n4: no GPU",)),), () if passes else (fault,))

    failed = admit(control, ["n4"], "root", verify)
    assert (seen, failed) == (["PENDING"], {} if passes else {"n4": "verify/x: no GPU"})
    state, reason = control.states()["n4"]
    assert (state, reason) == ("idle", "none") if passes else state.startswith("drain")
    assert passes or reason == "verify/x: no GPU"
    assert "n4" not in machine.ctl("scontrol", "show", "reservation").out
    if not passes:
        control.resume(["n4"])


def test_a_hand_edit_on_a_running_host_is_found(cluster: Running) -> None:
    machine, pushed = cluster.machine, cluster.here(cluster.now)
    live = read_live(OnHosts(machine), pushed, pushed)
    assert (dict(live.unread), compare(live.bundle, pushed).changes) == ({}, ())
    path = "/etc/slurm/slurm.conf"
    text = next(file.text for file in pushed.files if file.path == path)
    machine.place_file("ctl1", path, text.replace("ToService=1", "ToService=2"), 0o644)
    (found,) = drift_of(read_live(OnHosts(machine), pushed, pushed).bundle, pushed, pushed)
    assert (found.hosts, found.meaning) == (("ctl1",), (("ReturnToService", "1", "2"),))
    machine.place_file("ctl1", path, text, 0o644)
