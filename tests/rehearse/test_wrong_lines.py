"""What real Slurm does with node and gres lines that look right and are wrong, and which scenario finds each.

The lines are those that tutorials, templates and sites have published. One rehearsal per release holds them
all, each on a node of its own; the table says what that release's slurmctld and slurmd do with it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.hosts import expand
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode
from slurmwright.rehearse.machine import SlurmRoot
from slurmwright.rehearse.processes import rehearse
from slurmwright.rehearse.roots import slurm_version
from slurmwright.rehearse.values import Rehearsal
from slurmwright.topology.cpus import CpuLayout

ACCEPTED, REFUSED, FATAL = "accepted", "INVAL", "fatal"
RELEASES = ("22.05", "24.11", "26.05")

_BASE = """\
ClusterName=wrong
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
SelectTypeParameters=CR_Core_Memory
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup,task/affinity
PrologFlags=Contain
GresTypes=gpu
ReturnToService=2
"""


def _shape(name: str, layout: CpuLayout, gpu: str, numa: list[int]) -> ExpectedNode:
    return ExpectedNode(name, layout, gpu, tuple(ExpectedGpu(i, n) for i, n in enumerate(numa)), False, None)


_TWO_32 = CpuLayout.regular(2, 32, 2, 1, "contiguous")
_XD670 = _shape("hgx-h100-8gpu-hpe-xd670", _TWO_32, "h100", [0, 0, 0, 0, 1, 1, 1, 1])
_FOUR_A100 = _shape("four A100 on two sockets", _TWO_32, "a100", [0, 0, 1, 1])
_THREE_H100 = _shape("three H100 on two sockets", _TWO_32, "h100", [0, 0, 1])
_L40S = _shape("l40s-4gpu", CpuLayout.regular(2, 32, 2, 1, "interleaved"), "l40s", [0, 0, 1, 1])
_DGX = _shape("dgx-h100", CpuLayout.regular(2, 56, 2, 1, "contiguous"), "h100", [0, 0, 0, 0, 1, 1, 1, 1])
_B4 = _shape(
    "oci-bm.gpu.b4.8", CpuLayout.regular(2, 64, 2, 4, "contiguous"), "a100", [3, 3, 1, 1, 7, 7, 5, 5]
)
_NODE = "CPUs=128 Boards=1 SocketsPerBoard=2 CoresPerSocket=32 ThreadsPerCore=2 RealMemory=500000"
_NODE_DGX = "CPUs=224 Boards=1 SocketsPerBoard=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=500000"
_REST = [f"Name=gpu Type=h100 File=/dev/nvidia{i} Cores={'0-31' if i < 4 else '32-63'}" for i in range(1, 8)]


class Wrong(NamedTuple):
    """Lines of one node; `outcome` is what 22.05, 24.11 and 26.05 do; `finds` the scenario that tells."""

    name: str
    shape: ExpectedNode
    node: str
    gres: list[str]
    outcome: tuple[str, str, str]
    finds: str
    words: str


TABLE = (
    Wrong(
        "cpu-ids-with-siblings-and-links-without-self",
        _XD670,
        f"{_NODE} Gres=gpu:h100:8",
        ["Name=gpu Type=h100 File=/dev/nvidia0 Cores=0-15,64-79 Links=0,1", *_REST],
        (ACCEPTED, REFUSED, REFUSED),
        "gpu-locality",
        "/dev/nvidia0 with Cores=0-15,64-79",
    ),
    Wrong(
        "cores-that-split-a-socket",
        _FOUR_A100,
        f"{_NODE} Gres=gpu:a100:4",
        [f"Name=gpu Type=a100 File=/dev/nvidia{i} Cores={16 * i}-{16 * i + 15}" for i in range(4)],
        (ACCEPTED, REFUSED, REFUSED),
        "gpu-locality",
        "/dev/nvidia0 with Cores=0-15 ",
    ),
    Wrong(
        "a-second-type-on-the-same-files",
        _XD670,
        f"{_NODE} Gres=gpu:h100:8",
        [
            "Name=gpu Type=h100 File=/dev/nvidia[0-7] Cores=0-31",
            "Name=gpu Type=a100 File=/dev/nvidia[0-7] Cores=32-63",
        ],
        (ACCEPTED, ACCEPTED, ACCEPTED),
        "gpu-locality",
        "/dev/nvidia[4-7] with Cores=0-31",
    ),
    Wrong(
        "cpu-ids-of-nvidia-smi-on-a-contiguous-machine",
        _DGX,
        f"{_NODE_DGX} Gres=gpu:h100:8",
        [
            "Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-55,112-167",
            "Name=gpu Type=h100 File=/dev/nvidia[4-7] Cores=56-111,168-223",
        ],
        (ACCEPTED, REFUSED, REFUSED),
        "gpu-locality",
        "/dev/nvidia[0-3] with Cores=0-55,112-167",
    ),
    Wrong(
        "cpu-ids-of-nvidia-smi-on-an-even-odd-machine",
        _L40S,
        f"{_NODE} Gres=gpu:l40s:4",
        [
            "Name=gpu Type=l40s File=/dev/nvidia[0-1] Cores=" + ",".join(map(str, range(0, 64, 2))),
            "Name=gpu Type=l40s File=/dev/nvidia[2-3] Cores=" + ",".join(map(str, range(1, 64, 2))),
        ],
        (ACCEPTED, REFUSED, REFUSED),
        "gpu-locality",
        "/dev/nvidia[0-1] with Cores=0-62:2",
    ),
    Wrong(
        "one-socket-of-255-cores",
        _B4,
        "SocketsPerBoard=1 CoresPerSocket=255 ThreadsPerCore=1 RealMemory=500000 Gres=gpu:a100:8",
        ["Name=gpu Type=a100 File=/dev/nvidia[0-7]"],
        (ACCEPTED, ACCEPTED, ACCEPTED),
        "registered",
        "Sockets=1 CoresPerSocket=255",
    ),
    Wrong(
        "device-files-out-of-order",
        _THREE_H100,
        f"{_NODE} Gres=gpu:h100:3",
        ["Name=gpu Type=h100 File=/dev/nvidia[2,0,1]"],
        (ACCEPTED, ACCEPTED, ACCEPTED),
        "gpu-locality",
        "not in rising order",
    ),
    Wrong(
        "both-types-counted-on-the-same-files",
        _XD670,
        f"{_NODE} Gres=gpu:h100:8,gpu:a100:8",
        [
            "Name=gpu Type=h100 File=/dev/nvidia[0-7] Cores=0-31",
            "Name=gpu Type=a100 File=/dev/nvidia[0-7] Cores=32-63",
        ],
        (FATAL, FATAL, FATAL),
        "registered",
        "slurmd did not start",
    ),
    Wrong(
        "a-device-that-is-not-there",
        _THREE_H100,
        f"{_NODE} Gres=gpu:h100:4",
        ["Name=gpu Type=h100 File=/dev/nvidia[0-3]"],
        (FATAL, FATAL, FATAL),
        "registered",
        "slurmd did not start",
    ),
)
_NAMES = {f"w{at}": wrong for at, wrong in enumerate(TABLE)}


@pytest.fixture(scope="module", params=RELEASES)
def done(request: pytest.FixtureRequest, slurm_root: Callable[[str], Path]) -> tuple[str, Rehearsal]:
    """One rehearsal of all wrong lines on one release."""
    series = str(request.param)
    root = slurm_root(series)
    nodes = "".join(f"NodeName={name} {wrong.node} State=UNKNOWN\n" for name, wrong in _NAMES.items())
    main = f"{_BASE}{nodes}PartitionName=all Nodes=ALL Default=YES DefMemPerGPU=50000 State=UP\n"
    gres = "".join(f"NodeName={name} {line}\n" for name, wrong in _NAMES.items() for line in wrong.gres)
    files = tuple(
        BundleFile(f"/etc/slurm/{name}", name, "ctl1", "root", "root", "0644", text)
        for name, text in (
            ("slurm.conf", main),
            ("gres.conf", gres),
            ("cgroup.conf", "ConstrainDevices=yes\n"),
        )
    )
    expected = {name: wrong.shape for name, wrong in _NAMES.items()}
    bundle = Bundle("wrong", series, files)
    return series, rehearse(bundle, (), expected, SlurmRoot(root), slurm_version(root), lambda *_: None)


def _about(result: Rehearsal, scenario: str, node: str) -> list[str]:
    verdict = next(v for v in result.scenarios if v.name == scenario)
    return [line for line in verdict.evidence if ": " in line and node in _nodes(line.partition(":")[0])]


def _nodes(text: str) -> tuple[str, ...]:
    return expand(text) if text.startswith("w") else ()


def _outcome(result: Rehearsal, node: str) -> str:
    lines = " ".join(_about(result, "registered", node))
    if "slurmd did not start" in lines:
        return FATAL
    return REFUSED if "INVALID_REG" in lines else ACCEPTED


@pytest.mark.rehearsal
@pytest.mark.parametrize("node", list(_NAMES), ids=[wrong.name for wrong in TABLE])
def test_slurm_does_what_the_table_says(done: tuple[str, Rehearsal], node: str) -> None:
    series, result = done
    assert _outcome(result, node) == _NAMES[node].outcome[RELEASES.index(series)]


@pytest.mark.rehearsal
@pytest.mark.parametrize("node", list(_NAMES), ids=[wrong.name for wrong in TABLE])
def test_a_scenario_finds_the_wrong_line(done: tuple[str, Rehearsal], node: str) -> None:
    _, result = done
    wrong = _NAMES[node]
    assert any(wrong.words in line for line in _about(result, wrong.finds, node)), result.scenarios
