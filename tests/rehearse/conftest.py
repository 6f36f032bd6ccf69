"""Recorded output of real Slurm in a rehearsal, and a machine that answers with it.

tests/data/rehearsal/README.md tells where the recordings come from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

import pytest

from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.release import Release
from slurmwright.core.run import Result
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.cast import Host, cast_of
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode, expected_nodes
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.processes import let_memory_through
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.rehearse.scenarios import jobs, registered
from slurmwright.render import render
from slurmwright.topology.cpus import CpuLayout

_FOLDER = Path(__file__).parents[1] / "data" / "rehearsal"
DGX = ExpectedNode(
    "dgx-h100",
    CpuLayout.regular(2, 56, 2, 1, "contiguous"),
    "h100",
    tuple(ExpectedGpu(minor, minor // 4, "h100") for minor in range(8)),
    False,
    None,
)
_SLURM_CONF = "SlurmctldHost=ctl1\nNodeName=gpu[001-004] NodeAddr=10.20.1.[1-4] Gres=gpu:h100:8\n"


@pytest.fixture(scope="session")
def capture() -> Callable[[str, str], str]:
    """A function that gives a recorded file of a release."""
    return lambda release, name: (_FOLDER / release / name).read_text(encoding="utf-8")


class RecordedMachine:
    """Stands in for Machine: the cluster of the recordings, answering with texts that a test may replace."""

    def __init__(self, release: str, read: Callable[[str, str], str]) -> None:
        self._read = lambda name: read(release, name)
        self.expect(DGX)
        self.nodes = self._read("show_node_idle.txt")
        self.partitions = self._read("show_partition.txt")
        self.jobs = ""
        self.gres = self._read("slurmd_G.txt")
        self.hardware = self._read("slurmd_C.txt")
        self.controller = self._read("slurmctld.log")
        self.slurmd_logs: dict[str, str] = {}
        self.failures: dict[str, str] = {}
        self.refusal = ""
        self.asked: list[tuple[str, ...]] = []

    def expect(
        self, shape: ExpectedNode, nodes: Sequence[str] = ("gpu001", "gpu002", "gpu003", "gpu004")
    ) -> None:
        """What the inventory says: these nodes, each of this shape."""
        files = (
            BundleFile("/etc/slurm/slurm.conf", "slurm.conf", "ctl1", "root", "root", "0644", _SLURM_CONF),
        )
        self.cast = cast_of(Bundle("pod1", "24.11", files), dict.fromkeys(nodes, shape))

    def run_jobs(self, *names: str) -> None:
        """Jobs of these recordings are what submitted jobs become."""
        self.jobs = "".join(self._read(name) for name in names)

    def ctl(self, *argv: str, limit_s: float = 30) -> Result:
        self.asked.append(argv)
        if argv[0] == "sbatch":
            return Result(
                argv, int(bool(self.refusal)), "" if self.refusal else f"{self._next()}\n", self.refusal
            )
        shown = {"node": self.nodes, "partition": self.partitions, "job": self.jobs}
        return Result(argv, 0, shown[argv[2]] if argv[0] == "scontrol" else "", "")

    def answer(self, *argv: str) -> str:
        return self.ctl(*argv).out

    def _next(self) -> str:
        submitted = sum(argv[0] == "sbatch" for argv in self.asked)
        ids = sorted(int(number) for number in re.findall(r"^JobId=(\d+) ", self.jobs, re.MULTILINE))
        return str(ids[submitted - 1] if submitted <= len(ids) else 9000 + submitted)

    def on_node(self, node: str, argv: Sequence[str], limit_s: float = 30) -> Result:
        self.asked.append((node, *argv))
        return Result(
            tuple(argv), 0, self.hardware if "-C" in argv else "", self.gres if "-G" in argv else ""
        )

    def slurmd(self, host: Host) -> list[str]:
        return ["slurmd"]

    def start_failures(self, nodes: Collection[str]) -> dict[str, str]:
        return {node: text for node, text in self.failures.items() if node in nodes}

    def node_log(self, host: Host) -> str:
        return self.slurmd_logs.get(host.name, self._read("slurmd.log"))

    def controller_log(self, name: str) -> str:
        return self.controller


class _Clock:
    """Time that passes by sleeping."""

    def __init__(self) -> None:
        self._now = 0.0

    def monotonic(self) -> float:
        return self._now

    def sleep(self, seconds: float) -> None:
        self._now += seconds


@pytest.fixture
def running(slurm_root: Callable[[str], Path]) -> Iterator[Callable[[str, str], Machine]]:
    """A function that renders a cluster.yaml for a release and gives its real daemons, with all nodes up."""
    with ExitStack() as stack:

        def start(text: str, series: str) -> Machine:
            cluster = cluster_from(parse_yaml(text.replace("SERIES", series), "cluster.yaml"))
            expected = expected_nodes(cluster, {})
            bundle, _ = adapt(render(cluster, {}), Release.parse(series), expected)
            sandbox = stack.enter_context(Sandbox())
            machine = Machine(sandbox, SlurmRoot(slurm_root(series)), cast_of(bundle, expected))
            machine.build()
            machine.start_munge()
            machine.start_controllers()
            assert machine.wait_for_controller()
            let_memory_through(machine)
            machine.start_nodes(machine.cast.compute[1:], lambda _: None)
            registered.wait_for_nodes(machine, machine.cast.compute, lambda _: None)
            return machine

        yield start


@pytest.fixture
def recorded(
    capture: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], RecordedMachine]:
    """A function that gives the recorded machine of a release; waiting takes no time."""
    clock = _Clock()
    monkeypatch.setattr(jobs, "time", clock)
    monkeypatch.setattr(registered, "time", clock)
    return lambda release: RecordedMachine(release, capture)
