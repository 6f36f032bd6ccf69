"""doctor on what real daemons say: three faults at once are three causes, and a sound node is none.

One small cluster for each release, with a fault on each of three nodes; the fourth is as it should be.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.finding import Finding
from slurmwright.core.release import Release
from slurmwright.doctor.judge import judge
from slurmwright.doctor.live import look
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.cast import cast_of
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.roots import slurm_version
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.topology.cpus import CpuLayout

pytestmark = pytest.mark.rehearsal
#: The oldest and the newest: each takes 20 s, as long as slurmd waits for a device file.
RELEASES = ("22.05", "26.05")
SHAPE = ExpectedNode(
    "small",
    CpuLayout.regular(2, 4, 1, 1, "contiguous"),
    "h100",
    tuple(ExpectedGpu(minor, minor // 2, "h100") for minor in range(4)),
    False,
    None,
)
_NODE = "CPUs=8 Boards=1 SocketsPerBoard=2 CoresPerSocket=4 Gres=gpu:4"
SLURM = f"""\
ClusterName=ill
SlurmctldHost=ctl1
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
SlurmctldParameters=enable_configless
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
GresTypes=gpu
NodeName=sound,few {_NODE}
NodeName=gone {_NODE.replace("gpu:4", "gpu:5")}
NodeName=reserved {_NODE}
PartitionName=all Nodes=ALL Default=YES
"""
GRES = """\
NodeName=sound,reserved Name=gpu File=/dev/nvidia[0-3]
NodeName=gone Name=gpu File=/dev/nvidia[0-4]
"""
CGROUP = "ConstrainDevices=yes\n"
NODES = ("sound", "few", "gone", "reserved")
#: The reason that an admin gives the node `reserved`.
WHY = "fan 3 is loud"


class Real:
    """Reads what the real daemons wrote, as doctor's script would bring it."""

    def __init__(self, machine: Machine, nodes: str) -> None:
        self.machine, self.nodes = machine, nodes

    def read(self, host: str, script: str) -> str:
        own = {"slurm-conf": SLURM, "gres-conf": GRES, "cgroup-conf": CGROUP, "clock": str(int(time.time()))}
        if host == "ctl1":
            own |= {"nodes": self.nodes, "slurmctld-log": self.machine.controller_log(host)}
        else:
            (node,) = (one for one in self.machine.cast.compute if one.name == host)
            own |= {"slurmd-log": self.machine.node_log(node)}
            own["devices"] = self.machine.on_node(host, ["sh", "-c", "ls -l /dev/nvidia[0-9]*"]).out
        parts = [
            f"@@slurmwright begin {key}\n{text}\n@@slurmwright end {key} 0\n" for key, text in own.items()
        ]
        return "".join(parts) + "@@slurmwright done\n"

    def stop(self) -> None: ...


@pytest.fixture(scope="module", params=RELEASES)
def found(request: pytest.FixtureRequest, slurm_root: Callable[[str], Path]) -> Iterator[tuple[Finding, ...]]:
    root = slurm_root(request.param)
    texts = (("slurm.conf", SLURM), ("gres.conf", GRES), ("cgroup.conf", CGROUP))
    written = (
        BundleFile(f"/etc/slurm/{name}", f"files/{name}", "ctl1", "root", "root", "0644", text)
        for name, text in texts
    )
    shapes = dict.fromkeys(NODES, SHAPE)
    release = Release.parse(slurm_version(root))
    adapted, _ = adapt(Bundle("ill", request.param, tuple(written)), release, shapes)
    with Sandbox() as sandbox:
        machine = Machine(sandbox, SlurmRoot(root), cast_of(adapted, shapes))
        machine.build()
        machine.start_munge()
        machine.start_controllers()
        assert machine.wait_for_controller()
        machine.start_nodes(machine.cast.compute, lambda _: None)
        machine.ctl("scontrol", "update", "NodeName=reserved", "State=DRAIN", f"Reason={WHY}")
        reader = Real(machine, _nodes(machine))
        seen = look(["ctl1", *NODES], reader, 1, lambda _: None)
        yield judge(seen.hosts, seen.more)


def _nodes(machine: Machine) -> str:
    """All nodes, once slurmctld has heard of the one with too few GPUs and slurmd of the other gave up."""
    end = time.monotonic() + 60
    (gone,) = (one for one in machine.cast.compute if one.name == "gone")
    while True:
        text = machine.ctl("scontrol", "-o", "show", "node").out
        if (
            "lower than configured" in text and "fatal: " in machine.node_log(gone)
        ) or time.monotonic() > end:
            return text
        time.sleep(0.5)


def test_three_faults_at_once_are_three_causes_and_a_sound_node_is_none(found: tuple[Finding, ...]) -> None:
    assert {one.host: one.name for one in found} == {
        "few": "gres-file-empty",
        "gone": "device-missing",
        "reserved": "node-out-of-service",
    }
    assert len(found) == 3


def test_each_cause_has_the_words_of_the_daemon_or_the_admin(found: tuple[Finding, ...]) -> None:
    told = {one.host: " ".join((one.message, *one.evidence)) for one in found}
    assert "(0 < 4)" in told["few"]
    assert "/dev/nvidia4" in told["gone"]
    assert WHY in told["reserved"]
