"""Where a rule says that a daemon does not start, the real one does not; where it is silent, it does.

slurmctld and `slurmd -G` of Debian's Slurm 22.05, 24.11 and 26.05 read the files of each case in namespaces
of their own. Changed for that: SlurmUser, AuthType, CredType, places of state and devices, the nodes'
address.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from slurmwright.conf import parse
from slurmwright.rules.lint import lint
from slurmwright.rules.reading import read_path

from .case_files import BASE

RELEASES = ("22.05", "24.11", "26.05")
ALL = frozenset(RELEASES)
NONE: frozenset[str] = frozenset()
_READY = "Running as primary controller"
#: slurmctld then waits a minute for the file and ends, which nobody needs to see each time.
_MISSING = "retrying in 1sec up to 60sec"
_CTLD = """\
set -e
root=$0 conf=$1
hostname ctl01
ip link set lo up
ip addr add 10.9.8.7/24 dev lo
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount -t tmpfs tmpfs "$root/tmp"
mkdir -p "$root/tmp/state" "$root/tmp/etc" "$root/tmp/dev"
for n in 0 1 2 3 4 5 6 7; do mknod "$root/tmp/dev/nvidia$n" c 1 3; done
cp -r "$conf"/. "$root/tmp/etc"
shift
exec chroot "$root" "$@"
"""


@dataclass(frozen=True)
class Combination:
    """A change of the base that is fatal in some releases, and the rule that says so."""

    name: str
    rule: str
    fatal_in: frozenset[str]
    settings: dict[str, str | None] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    daemon: str = "slurmctld"


def nodes(*lines: str) -> dict[str, str]:
    head = [
        line for line in BASE["slurm.conf"].splitlines() if not line.startswith(("NodeName", "Partition"))
    ]
    return {"slurm.conf": "\n".join([*head, *lines]) + "\n"}


def gres(*lines: str) -> dict[str, str]:
    return {"gres.conf": "\n".join(lines) + "\n"}


PARTITION = "PartitionName=p Nodes=ALL"
FOUR = ("NodeName=gpu[01-04] CPUs=64 RealMemory=1000", PARTITION)
TABLE = (
    Combination("as it should be", "", NONE),
    Combination("as it should be for slurmd", "", NONE, daemon="slurmd"),
    Combination("a typing error", "OP001", ALL, files={"cgroup.conf": "ConstrainDevice=yes\n"}),
    Combination(
        "a key that went", "OP002", frozenset(("24.11", "26.05")), files={"cgroup.conf": "MaxKmemPercent=1\n"}
    ),
    Combination("a key that came", "OP002", frozenset(("22.05",)), {"HashPlugin": "hash/k12"}),
    Combination("a removed key", "OP003", ALL, {"SallocDefaultCommand": "srun -n1"}),
    Combination("a value", "OP006", ALL, files={"cgroup.conf": "ConstrainDevices=enabled\n"}),
    Combination(
        "a plugin that went", "OP007", frozenset(("24.11", "26.05")), {"SelectType": "select/cons_res"}
    ),
    Combination("a flag", "OP007", ALL, {"PrologFlags": "Contain,Containn"}),
    Combination("no key=value", "OP010", ALL, files=nodes("AccountingStorageTRES: gres/gpu", *FOUR)),
    Combination("a node twice", "ND001", ALL, files=nodes("NodeName=gpu02 CPUs=64 RealMemory=1000", *FOUR)),
    Combination("an unknown node", "ND002", ALL, files=nodes(FOUR[0], "PartitionName=p Nodes=gpu[01-09]")),
    Combination(
        "addresses too few",
        "ND005",
        ALL,
        files=nodes("NodeName=gpu[01-04] NodeAddr=10.0.0.[1-3] CPUs=64 RealMemory=1000", PARTITION),
    ),
    Combination("a partition twice", "ND006", ALL, files=nodes(*FOUR, PARTITION)),
    Combination("no controller", "ND008", ALL, {"SlurmctldHost": None}),
    Combination("CR_Memory alone", "SE011", ALL, {"SelectTypeParameters": "CR_Memory"}),
    Combination("two killers", "SE013", ALL, {"JobAcctGatherParams": "OverMemoryKill"}),
    Combination(
        "linear and a shard", "SE012", ALL, {"SelectType": "select/linear", "GresTypes": "gpu,shard"}
    ),
    Combination(
        "linear and a tree",
        "SE012",
        frozenset(("24.11", "26.05")),
        {
            "SelectType": "select/linear",
            "SelectTypeParameters": "CR_Memory",
            "TopologyPlugin": "topology/tree",
        },
        {"topology.conf": "SwitchName=s Nodes=gpu01\n"},
    ),
    Combination(
        "a switch that is missing",
        "TO002",
        ALL,
        files={
            **nodes("TopologyPlugin=topology/tree", *FOUR),
            "topology.conf": "SwitchName=leaf1 Nodes=gpu[01-04]\nSwitchName=top Switches=leaf[1-2]\n",
        },
    ),
    Combination(
        "a whole tree",
        "",
        NONE,
        files={
            **nodes("TopologyPlugin=topology/tree", *FOUR),
            "topology.conf": "SwitchName=leaf1 Nodes=gpu[01-04]\nSwitchName=top Switches=leaf1\n",
            "gres.conf": "# none here\n",
        },
    ),
    Combination("GPUs without slurmdbd", "AC002", ALL, {"AccountingStorageTRES": "gres/gpu"}),
    Combination("a mode without a type", "AC004", ALL, {"PreemptMode": "REQUEUE"}),
    Combination("a type without a mode", "AC004", ALL, {"PreemptType": "preempt/qos"}),
    Combination("gang alone", "", NONE, {"PreemptMode": "GANG"}),
    Combination(
        "a private tmp without Contain",
        "AC005",
        ALL,
        {"PrologFlags": "Alloc", "JobContainerType": "job_container/tmpfs"},
    ),
    Combination("NoHold and Contain", "AC006", ALL, {"PrologFlags": "Contain,NoHold"}),
    Combination("send gids", "CF003", ALL, {"LaunchParameters": "enable_nss_slurm,disable_send_gids"}),
    Combination("a pattern in Include", "IN004", ALL, files=nodes("Include nodes.d/*.conf", *FOUR)),
    Combination(
        "Count unlike File",
        "GR005",
        ALL,
        files=gres("Name=gpu Type=a100 Count=8 File=/dev/nvidia[0-6]"),
        daemon="slurmd",
    ),
    Combination("bare records", "GR011", ALL, files=gres("Name=gpu", "Name=gpu"), daemon="slurmd"),
    Combination(
        "types on some lines",
        "GR006",
        ALL,
        files=gres("Name=gpu Type=a100 File=/dev/nvidia[0-3]", "Name=gpu File=/dev/nvidia[4-7]"),
        daemon="slurmd",
    ),
    Combination(
        "one file of several",
        "GR019",
        ALL,
        files=gres("Name=gpu Type=a100 MultipleFiles=/dev/nvidia0"),
        daemon="slurmd",
    ),
    Combination(
        "files on some lines",
        "GR025",
        ALL,
        files=gres("Name=gpu Type=a100 File=/dev/nvidia[0-3]", "Name=gpu Type=a100 Count=4"),
        daemon="slurmd",
    ),
    Combination("more nodes than allowed", "ND007", ALL, files=nodes("MaxNodeCount=2", *FOUR)),
    Combination(
        "a node set named as a node",
        "ND009",
        frozenset(("24.11", "26.05")),
        files=nodes("NodeSet=gpu01 Nodes=gpu02", *FOUR),
    ),
    Combination(
        "a switch twice",
        "TO006",
        ALL,
        files={
            **nodes("TopologyPlugin=topology/tree", *FOUR),
            "topology.conf": "SwitchName=a Nodes=gpu[01-02]\nSwitchName=a Nodes=gpu[03-04]\n",
        },
    ),
    Combination(
        "block sizes",
        "TO007",
        ALL,
        files={
            **nodes("TopologyPlugin=topology/block", *FOUR),
            "topology.conf": "BlockName=a Nodes=gpu[01-02]\nBlockName=b Nodes=gpu[03-04]\nBlockSizes=1,3\n",
        },
    ),
    Combination(
        "blocks for a tree",
        "TO010",
        ALL,
        files={
            **nodes("TopologyPlugin=topology/tree", *FOUR),
            "topology.conf": "BlockName=a Nodes=gpu[01-04]\n",
        },
    ),
    Combination(
        "dynamic nodes and linear",
        "SE012",
        ALL,
        {"SelectType": "select/linear", "SelectTypeParameters": "CR_Memory", "MaxNodeCount": "100"},
    ),
    Combination(
        "billing of the untracked",
        "AC003",
        ALL,
        files=nodes(FOUR[0], PARTITION + " TRESBillingWeights=GRES/gpu=2.0"),
    ),
    Combination(
        "a file twice",
        "GR018",
        ALL,
        files=gres("Name=gpu Type=a100 File=/dev/nvidia[0-4]", "Name=gpu Type=a100 File=/dev/nvidia[4-7]"),
        daemon="slurmd",
    ),
    Combination(
        "both kinds of file",
        "GR019",
        ALL,
        files=gres("Name=gpu Type=a100 File=/dev/nvidia0 MultipleFiles=/dev/nvidia[1-2]"),
        daemon="slurmd",
    ),
    Combination("shards of nothing", "GR024", ALL, {"GresTypes": "shard"}),
    Combination(
        "stepmgr",
        "AC005",
        frozenset(("24.11", "26.05")),
        {"PrologFlags": "Alloc", "SlurmctldParameters": "enable_stepmgr"},
    ),
    Combination(
        "names beside slurm.conf wherever the Include stands",
        "IN004",
        frozenset(("22.05",)),
        files={
            **nodes("Include more/a.conf", "Include nodes_%c.conf", PARTITION),
            "more/a.conf": "Include b.conf\n",
            "b.conf": "ReturnToService=2\n",
            "nodes_demo.conf": "NodeName=gpu01 CPUs=64 RealMemory=1000 NodeAddr=127.0.0.1 Gres=gpu:a100:8\n",
        },
    ),
    Combination(
        "names beside the file that includes them",
        "IN004",
        frozenset(("24.11", "26.05")),
        files={
            **nodes("Include more/a.conf", *FOUR),
            "more/a.conf": "Include b.conf\n",
            "more/b.conf": "# none\n",
        },
    ),
    Combination(
        "a cluster name that comes later",
        "IN004",
        ALL,
        files={"slurm.conf": "Include %c.conf\n" + BASE["slurm.conf"]},
    ),
    Combination(
        "a file that includes itself",
        "IN004",
        ALL,
        files=nodes("Include a.conf", *FOUR) | {"a.conf": "Include a.conf\n"},
    ),
)


def files_of(one: Combination) -> dict[str, str]:
    files = {**BASE, **one.files}
    doc = parse(files["slurm.conf"], "slurm.conf")
    for key, value in one.settings.items():
        doc = doc.unset(key) if value is None else doc.set(key, value)
    return {**files, "slurm.conf": doc.text}


def adapted(files: dict[str, str], daemon: str) -> dict[str, str]:
    """The files as one machine without munge, SlurmUser and GPUs can read them."""
    doc = parse(files["slurm.conf"], "slurm.conf")
    here = {
        "SlurmUser": "root",
        "AuthType": "auth/none",
        "CredType": "cred/none",
        "StateSaveLocation": "/tmp/state",  # noqa: S108 - of a namespace of its own
        "SlurmctldPidFile": "/tmp/slurmctld.pid",  # noqa: S108
        "SlurmdSpoolDir": "/tmp/state",  # noqa: S108
    }
    for key, value in here.items():
        doc = doc.set(key, value)
    for at in range(len(doc.lines("NodeName"))):
        line = doc.lines("NodeName")[at]
        if line.get("NodeAddr") is None:
            doc = doc.set_on(line, "NodeAddr", "127.0.0.1")
    text = doc.text
    if daemon == "slurmd":
        text += "SlurmdParameters=config_overrides\n"
    devices = files["gres.conf"].replace("/dev/nvidia", "/tmp/dev/nvidia")  # noqa: S108
    return {**files, "slurm.conf": text, "gres.conf": devices}


def is_fatal(root: Path, folder: Path, daemon: str) -> tuple[bool, str]:
    """Does the daemon end with an error, and what did it say? The answer is in as soon as it runs."""
    conf = "/tmp/etc/slurm.conf"  # noqa: S108
    program = {
        "slurmctld": ["slurmctld", "-D", "-c", "-i", "-v", "-f", conf],
        "slurmd": ["slurmd", "-G", "-N", "gpu01", "-f", conf],
    }[daemon]
    command = [
        "unshare",
        "-m",
        "-n",
        "-u",
        "-p",
        "-f",
        "--kill-child",
        "sh",
        "-c",
        _CTLD,
        str(root),
        str(folder),
    ]
    process = subprocess.Popen([*command, *program], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    assert process.stderr is not None
    told = b""
    end = time.monotonic() + 180
    with selectors.DefaultSelector() as selector:
        selector.register(process.stderr, selectors.EVENT_READ)
        while time.monotonic() < end:
            if selector.select(timeout=1):
                piece = os.read(process.stderr.fileno(), 65536)
                if not piece:
                    break
                told += piece
            if _READY.encode() in told or _MISSING.encode() in told:
                break
    process.kill()
    process.wait()
    text = told.decode(errors="replace")
    if daemon == "slurmd":
        return "fatal:" in text, text
    return _READY not in text, text


@pytest.mark.rehearsal
@pytest.mark.parametrize("series", RELEASES)
@pytest.mark.parametrize("one", TABLE, ids=lambda one: one.name.replace(" ", "-"))
def test_the_daemon_agrees(
    one: Combination, series: str, slurm_root: Callable[[str], Path], tmp_path: Path
) -> None:
    files = files_of(one)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    for folder, texts in ((ours, files), (theirs, adapted(files, one.daemon))):
        folder.mkdir()
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
    said = {
        f.finding.rule
        for f in lint(read_path(ours), series)
        if f.finding.severity.value in ("error", "critical")
    }
    fatal, text = is_fatal(slurm_root(series), theirs, one.daemon)
    assert fatal == (series in one.fatal_in), text
    assert (one.rule in said) == fatal, (said, text)
    if not one.rule:
        assert said == set()
