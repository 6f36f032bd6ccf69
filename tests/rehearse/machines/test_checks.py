"""What a job on a guest saw, to what is wrong with it; what guests say, to verdicts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from slurmwright.core.run import Result
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import expected_nodes
from slurmwright.rehearse.machines.checks import Checks, numa_of, probe_faults
from slurmwright.rehearse.machines.plan import Plan, plan

INVENTORIES = Path(__file__).parents[3] / "inventories"


def of(name: str) -> Plan:
    cluster = load_cluster(INVENTORIES / name)
    return plan(cluster, {}, expected_nodes(cluster, {}), 1)


H100 = of("dgx-h100-64n")


def gpus(*reached: int, denied: str = "EPERM") -> dict[str, str]:
    return {f"/dev/nvidia{n}": "ENXIO" if n in reached else denied for n in range(8)}


class Said:
    """Guests that answer with given texts, by a word of the command."""

    def __init__(self, answer: Callable[[str, str], str]) -> None:
        self._answer = answer

    def ssh(self, name: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 120) -> Result:
        return Result(tuple(argv), 0, self._answer(name, " ".join(argv)), "")


def test_one_gpu_on_the_cores_of_its_socket_is_right() -> None:
    assert list(probe_faults(H100.nodes[0], 1, gpus(4), [8, 9])) == []


def test_a_gpu_on_cores_of_the_other_socket_is_a_fault() -> None:
    (fault,) = probe_faults(H100.nodes[0], 1, gpus(4), [0, 1])
    assert fault == "opens /dev/nvidia4 of NUMA node 1 and runs on 0"


def test_a_second_gpu_that_opens_is_a_fault() -> None:
    assert "opens /dev/nvidia0, /dev/nvidia1" in list(probe_faults(H100.nodes[0], 1, gpus(0, 1), [0]))


def test_without_a_device_filter_a_job_without_gpus_opens_all() -> None:
    (fault,) = probe_faults(H100.nodes[0], 0, gpus(*range(8)), [0])
    assert fault.startswith("opens /dev/nvidia0, ")


def test_a_device_file_that_is_missing_is_a_fault() -> None:
    seen = gpus(0)
    del seen["/dev/nvidia7"]
    (fault,) = probe_faults(H100.nodes[0], 1, seen, [0])
    assert "the node has" in fault


def test_a_refusal_by_file_mode_is_told_from_one_by_the_cgroup() -> None:
    faults = list(probe_faults(H100.nodes[0], 1, gpus(0, denied="EACCES"), [0]))
    assert any("EACCES" in fault for fault in faults)


def test_cpus_of_a_guest_lie_on_the_numa_nodes_of_the_hardware() -> None:
    node = of("dgx-a100-20n").nodes[0]
    assert [numa_of(node, cpu) for cpu in (0, 3, 4, 31)] == [0, 0, 1, 7]


def test_a_daemon_that_is_not_enabled_is_named() -> None:
    def answer(name: str, command: str) -> str:
        units = command.split(";")[0].split()[2:]
        boot = ["disabled" if (name, unit) == ("gpu001", "slurmd") else "enabled" for unit in units]
        return "\n".join([*["active"] * len(units), *boot])

    verdict = Checks(Said(answer), H100, accounted=True).in_service()
    assert verdict.evidence == ("gpu001: slurmd is active, disabled at boot",)


@pytest.mark.parametrize("state", ["IDLE", "IDLE+DRAIN", "DOWN"])
def test_only_an_idle_node_is_registered(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slurmwright.rehearse.machines.checks._PATIENCE", 0)
    line = (
        f"NodeName=gpu001 CoresPerSocket=4 CPUTot=16 Gres=gpu:h100:8 State={state} ThreadsPerCore=2 Sockets=2"
    )
    verdict, count = Checks(Said(lambda *_: line), H100, accounted=False).registered()
    assert verdict.passed is (state == "IDLE")
    assert count.total == 1
    assert count.idle == int(state == "IDLE")


def test_a_node_with_fewer_gpus_than_the_hardware_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slurmwright.rehearse.machines.checks._PATIENCE", 0)
    line = "NodeName=gpu001 CoresPerSocket=4 CPUTot=16 Gres=gpu:h100:7 State=IDLE ThreadsPerCore=2 Sockets=2"
    verdict, _ = Checks(Said(lambda *_: line), H100, accounted=False).registered()
    assert verdict.evidence[0].startswith("gpu001: Slurm schedules 16 CPUs and 7 GPUs")


def test_jobs_that_see_what_they_asked_for_pass() -> None:
    def answer(_: str, command: str) -> str:
        count = int(command.split("--gpus=")[1].split()[0]) if "--gpus=" in command else 0
        return json.dumps({"gpus": gpus(*range(count)), "cpus": [0, 1]})

    verdict = Checks(Said(answer), H100, accounted=False).gpus_in_jobs()
    assert verdict.passed


def test_without_a_database_accounting_is_not_checked() -> None:
    verdict = Checks(Said(lambda *_: ""), H100, accounted=False).accounting()
    assert verdict.passed is None


def test_nodes_without_gpus_are_not_probed() -> None:
    cluster = load_cluster(INVENTORIES / "mixed")
    expected = expected_nodes(cluster, {})
    nodes = plan(cluster, {}, expected, 1)
    bare = Plan(nodes.server, (), tuple(node for node in nodes.nodes if not node.gpus))
    assert bare.nodes
    assert Checks(Said(lambda *_: ""), bare, accounted=False).gpus_in_jobs().passed is None


def test_a_job_that_does_not_run_is_a_fault_with_what_slurm_said() -> None:
    verdict = Checks(Said(lambda *_: "srun: error: Unable to allocate"), H100, accounted=False).gpus_in_jobs()
    assert verdict.failed
    assert "Unable to allocate" in verdict.evidence[0]
