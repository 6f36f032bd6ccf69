"""Scenarios judge recorded answers of real Slurm: clean ones pass, faults are named, silence never passes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from slurmwright.core.release import Release
from slurmwright.core.run import Result
from slurmwright.rehearse.expect import ExpectedGpu
from slurmwright.rehearse.scenarios import gpu_locality, gpus_each_once, jobs, registered, whole_cluster
from slurmwright.rehearse.slurm_text import JobState, read_jobs
from slurmwright.topology.cpus import CpuLayout

Capture = Callable[[str, str], str]
Recorded = Callable[[str], Any]
all_releases = pytest.mark.parametrize("release", ["22.05", "24.11", "26.05"])
NEW = Release("24.11")
ONE_PARTITION = "PartitionName=train Default=YES Nodes=gpu[001-004] State=UP\n"


def dgx(machine: Any) -> Any:
    """The shape of the recorded nodes."""
    return machine.cast.compute[0].shape


# -- registered -------------------------------------------------------------------------------------------


@all_releases
def test_registered_passes_nodes_that_are_as_their_hardware(recorded: Recorded, release: str) -> None:
    verdict, count = registered.judge(recorded(release), Release(release))
    assert verdict.passed
    assert (count.total, count.registered, count.idle) == (4, 4, 4)
    assert verdict.evidence[:2] == (
        "4 of 4 nodes registered, 4 idle",
        "gpu[001-004]: dgx-h100: Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 CPUs=224 Gres=gpu:h100:8, "
        "as the hardware has it",
    )
    assert "gpu001: slurmd runs with CPUs=224 Boards=1 Sockets=2 Cores=56 Threads=2" in verdict.evidence


@all_releases
def test_registered_names_refused_nodes_once_with_slurms_reason(
    recorded: Recorded, capture: Capture, release: str
) -> None:
    machine = recorded(release)
    machine.nodes = capture(release, "too_few_gpus_node.txt")
    verdict, count = registered.judge(machine, Release(release))
    assert verdict.failed
    assert (count.total, count.registered, count.idle) == (4, 0, 0)
    assert verdict.evidence == (
        "gpu[001-004]: state UNKNOWN+DRAIN+INVALID_REG, "
        "reason: gres/gpu count reported lower than configured (4 < 8)",
        "gpu[001-004]: Slurm schedules Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 CPUs=224 Gres=gpu:h100:4;"
        " the hardware (dgx-h100) has Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 CPUs=224 Gres=gpu:h100:8",
    )


def test_registered_fails_a_layout_that_slurm_took_without_a_word(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.nodes = machine.nodes.replace("CoresPerSocket=56", "CoresPerSocket=28", 1)
    verdict, _ = registered.judge(machine, NEW)
    assert [line.partition(";")[0] for line in verdict.evidence] == [
        "gpu001: Slurm schedules Sockets=2 CoresPerSocket=28 ThreadsPerCore=2 CPUs=224 Gres=gpu:h100:8"
    ]


def test_registered_fails_drained_and_busy_nodes(recorded: Recorded, capture: Capture) -> None:
    machine = recorded("22.05")
    machine.nodes = capture("22.05", "show_node.txt")
    verdict, count = registered.judge(machine, Release("22.05"))
    assert verdict.failed
    assert (count.registered, count.idle) == (3, 0)
    assert verdict.evidence == (
        "gpu[001,004]: state MIXED",
        "gpu002: state IDLE+DRAIN, reason: State=IDLE is a lie, fan 3 Sockets=9 broken",
        "gpu003: state DOWN, reason: rack power",
    )


def test_registered_quotes_a_slurmd_that_gave_up(recorded: Recorded, capture: Capture) -> None:
    machine = recorded("24.11")
    machine.failures = dict.fromkeys(("gpu002", "gpu003"), capture("24.11", "no_device.log"))
    machine.nodes = machine.nodes.replace("State=IDLE ", "State=UNKNOWN ")
    evidence = registered.judge(machine, NEW)[0].evidence
    assert evidence[0] == (
        "gpu[002-003]: slurmd did not start: fatal: can't stat gres.conf file /dev/nvidia8: "
        "No such file or directory"
    )


def test_registered_fails_when_slurmctld_shows_no_nodes(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.nodes = ""
    verdict, count = registered.judge(machine, NEW)
    assert verdict.failed
    assert verdict.evidence == ("gpu[001-004]: slurmctld does not show this node",)
    assert (count.total, count.registered) == (4, 0)


def test_registered_names_nodes_that_only_one_side_knows(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.expect(dgx(machine), ("gpu001", "gpu002", "gpu003", "gpu005"))
    verdict, count = registered.judge(machine, NEW)
    assert verdict.evidence == (
        "gpu005: is in cluster.yaml, but no NodeName line names it",
        "gpu004: has a NodeName line, but cluster.yaml does not know it",
    )
    assert (verdict.passed, count.total, count.registered) == (False, 4, 3)


def test_registered_fails_hardware_that_slurmd_sees_otherwise(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.hardware = machine.hardware.replace("CPUs=224", "CPUs=112").replace(
        "ThreadsPerCore=2", "ThreadsPerCore=1"
    )
    (line,) = registered.judge(machine, NEW)[0].evidence
    assert line.startswith("gpu001: `slurmd -C` prints ")
    assert "'CPUs': 112" in line


@pytest.mark.parametrize(
    ("release", "asked"), [("24.11", ()), ("26.05", ("--parameters=numa_node_as_socket",))]
)
def test_registered_asks_slurmd_for_numa_nodes_where_it_can_show_them(
    recorded: Recorded, release: str, asked: tuple[str, ...]
) -> None:
    machine = recorded(release)
    machine.expect(replace(dgx(machine), layout=CpuLayout.regular(2, 56, 2, 4, "contiguous")))
    registered.judge(machine, Release(release))
    assert ("gpu001", "slurmd", "-C", *asked) in machine.asked


# -- gpu-locality -----------------------------------------------------------------------------------------


@all_releases
def test_gpu_locality_passes_jobs_on_their_gpus_socket(recorded: Recorded, release: str) -> None:
    machine = recorded(release)
    machine.run_jobs("jobs_one_gpu.txt")
    verdict = gpu_locality.judge(machine)
    assert verdict.passed
    assert verdict.evidence == (
        "gpu001 (dgx-h100): 8 one-GPU jobs ran on the cores of their GPU's socket (NUMA nodes 0,0,0,0,1,1,1,1"
        " by device number, device numbers assumed in PCI order)",
    )


@all_releases
def test_gpu_locality_sees_jobs_on_the_other_socket(recorded: Recorded, release: str) -> None:
    machine = recorded(release)
    machine.run_jobs("jobs_swapped.txt")
    verdict = gpu_locality.judge(machine)
    assert verdict.failed
    assert len(verdict.evidence) == 8
    assert (
        "gpu001: a job with GPU index 0 (/dev/nvidia0, NUMA node 0, cores 0-55) got core 56"
        in verdict.evidence
    )


def test_gpu_locality_sees_swapped_cores_that_no_job_has_met(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    machine.gres = (
        machine.gres.replace("Cores=0-55", "Cores=X").replace("56-111", "0-55").replace("=X", "=56-111")
    )
    assert gpu_locality.judge(machine).evidence == (
        "gpu001: /dev/nvidia[0-3] with Cores=56-111 in gres.conf; by the dgx-h100 map it sits on NUMA node 0 "
        "with cores 0-55",
        "gpu001: /dev/nvidia[4-7] with Cores=0-55 in gres.conf; by the dgx-h100 map it sits on NUMA node 1 "
        "with cores 56-111",
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Cores=0-55", "Cores=(null)", "/dev/nvidia[0-3] without Cores in gres.conf"),
        ("Cores=0-55", "Cores=0-54", "/dev/nvidia[0-3] with Cores=0-54"),
        ("nvidia[4-7]", "nvidia[4-6]", "/dev/nvidia7 in no line of gres.conf"),
        ("nvidia[0-3]", "nvidia[3,0-2]", "not in rising order"),
        ("Name=gpu ", "Name=nic ", "slurmd read no GPU device from gres.conf"),
    ],
)
def test_gpu_locality_names_the_devices_that_gres_conf_gets_wrong(
    recorded: Recorded, old: str, new: str, words: str
) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    machine.gres = machine.gres.replace(old, new)
    verdict = gpu_locality.judge(machine)
    assert verdict.failed
    assert [words in line for line in verdict.evidence] == [True]


def test_gpu_locality_holds_facts_against_gres_conf_not_the_order_of_numbers(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    gpus = tuple(ExpectedGpu(minor, 1 - minor // 4, "h100") for minor in range(8))
    machine.expect(replace(dgx(machine), gpus=gpus, minors_known=True))
    assert not gpu_locality.judge(machine).passed


def test_gpu_locality_says_what_it_could_not_check(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    gpus = tuple(ExpectedGpu(minor, None if minor > 3 else 0, "h100") for minor in range(8))
    machine.expect(replace(dgx(machine), gpus=gpus))
    (line,) = gpu_locality.judge(machine).evidence
    assert line.endswith("not checked for 4 GPUs whose NUMA node is not known")


def test_gpu_locality_does_not_pass_jobs_of_which_slurm_shows_no_gpu(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    machine.jobs = machine.jobs.replace("(IDX:", "(CNT:")
    assert gpu_locality.judge(machine).evidence == (
        "gpu001: a one-GPU job runs and Slurm shows no GPU of its own for it",
    )


def test_gpu_locality_does_not_pass_jobs_that_wait_or_are_gone(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    machine.jobs = machine.jobs.replace("RUNNING Reason=None", "PENDING Reason=Resources")
    assert "gpu001: only 0 of 8 one-GPU jobs started (Resources)" in gpu_locality.judge(machine).evidence
    machine.jobs = ""
    assert not gpu_locality.judge(machine).passed


def test_gpu_locality_quotes_slurm_where_it_refuses_the_job(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.refusal = "sbatch: error: Batch job submission failed: Invalid partition name specified\n"
    (line,) = gpu_locality.judge(machine).evidence
    assert line.endswith("Batch job submission failed: Invalid partition name specified")


def test_gpu_locality_does_not_try_nodes_that_no_job_reaches(recorded: Recorded, capture: Capture) -> None:
    machine = recorded("24.11")
    machine.partitions = machine.partitions.replace("State=UP", "State=DOWN")
    assert gpu_locality.judge(machine).evidence == (
        "gpu001: no partition in state UP has this node, so no job can reach it",
    )
    machine.nodes = capture("24.11", "too_few_gpus_node.txt")
    assert gpu_locality.judge(machine).evidence == (
        "gpu001: no job can run here: state UNKNOWN+DRAIN+INVALID_REG",
    )
    assert not [argv for argv in machine.asked if argv[0] == "sbatch"]


# -- gpus-each-once ---------------------------------------------------------------------------------------


@all_releases
def test_gpus_each_once_passes_one_gpu_per_job_and_one_job_that_waits(
    recorded: Recorded, release: str
) -> None:
    machine = recorded(release)
    machine.run_jobs("jobs_plain.txt")
    verdict = gpus_each_once.judge(machine)
    assert verdict.passed
    assert verdict.evidence == ("gpu001: 8 plain one-GPU jobs hold GPUs 0 to 7, one each; one more waits",)


@all_releases
def test_gpus_each_once_fails_a_job_that_takes_all_memory(recorded: Recorded, release: str) -> None:
    machine = recorded(release)
    machine.run_jobs("jobs_no_defaults.txt")
    assert gpus_each_once.judge(machine).evidence == (
        "gpu001: only 1 of 8 plain one-GPU jobs run at once; the first alone holds 2 CPUs and 2022000 MB: "
        "give the partition DefCpuPerGPU and DefMemPerGPU",
    )


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(IDX:7)", "(IDX:6)", "a GPU was given to two jobs: indexes [0, 1, 2, 3, 4, 5, 6, 6]"),
        ("(IDX:7)", "(IDX:8)", "the jobs hold GPU indexes [0, 1, 2, 3, 4, 5, 6, 8], expected 0 to 7"),
        ("(IDX:", "(CNT:", "the jobs hold GPU indexes [], expected 0 to 7"),
        ("PENDING Reason=Resources", "RUNNING Reason=None", "9 one-GPU jobs run at once on 8 GPUs"),
        (
            "PENDING Reason=Resources",
            "FAILED Reason=None",
            "the job beyond the GPUs is FAILED, expected it to wait",
        ),
    ],
)
def test_gpus_each_once_names_what_is_shared_or_missing(
    recorded: Recorded, old: str, new: str, words: str
) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_plain.txt")
    assert old in machine.jobs
    machine.jobs = machine.jobs.replace(old, new)
    assert gpus_each_once.judge(machine).evidence == (f"gpu001: {words}",)


def test_gpus_each_once_does_not_pass_jobs_that_are_gone(recorded: Recorded) -> None:
    assert not gpus_each_once.judge(recorded("24.11")).passed


# -- whole-cluster ----------------------------------------------------------------------------------------


@all_releases
def test_whole_cluster_passes_a_job_that_holds_every_gpu(recorded: Recorded, release: str) -> None:
    machine = recorded(release)
    machine.partitions = ONE_PARTITION
    machine.run_jobs("jobs_whole.txt")
    verdict = whole_cluster.judge(machine)
    assert verdict.passed
    assert verdict.evidence == ("partition train: one job holds 4 nodes with 32 GPUs",)


def test_whole_cluster_asks_for_all_nodes_and_gpus_of_each_different_partition(recorded: Recorded) -> None:
    machine = recorded("24.11")
    whole_cluster.judge(machine)
    requests = [" ".join(argv) for argv in machine.asked if argv[0] == "sbatch"]
    wanted = [("train", 3, 24), ("all", 4, 32), ("odd", 2, 16)]
    assert len(requests) == len(wanted)
    for request, (partition, nodes, gpus) in zip(requests, wanted, strict=True):
        assert f"-p {partition} -N {nodes} --exclusive --gpus={gpus}" in request


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("(IDX:0-7)", "(IDX:0-3)", "the job holds 16 GPUs, the nodes have 32"),
        (
            "RUNNING Reason=None",
            "PENDING Reason=PartitionNodeLimit",
            "a job of 4 nodes and 32 GPUs does not start: PENDING, PartitionNodeLimit",
        ),
    ],
)
def test_whole_cluster_names_what_is_missing(recorded: Recorded, old: str, new: str, words: str) -> None:
    machine = recorded("24.11")
    machine.partitions = ONE_PARTITION
    machine.run_jobs("jobs_whole.txt")
    machine.jobs = machine.jobs.replace(old, new)
    assert whole_cluster.judge(machine).evidence == (f"partition train: {words}",)


def test_whole_cluster_does_not_pass_a_job_that_is_gone(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = ONE_PARTITION
    assert whole_cluster.judge(machine).evidence == (
        "partition train: a job of 4 nodes and 32 GPUs is gone from slurmctld's list",
    )


def test_whole_cluster_says_when_no_partition_can_be_used(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = ""
    verdict = whole_cluster.judge(machine)
    assert verdict.failed
    assert verdict.evidence == ("gpu[001-004]: in no partition in state UP, so no job can run there",)


def submitted(machine: Any) -> list[str]:
    return [" ".join(argv) for argv in machine.asked if argv[0] == "sbatch"]


def test_whole_cluster_fails_nodes_that_every_partition_forgot(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = "PartitionName=train Nodes=gpu[001,003] State=UP\n"
    assert whole_cluster.judge(machine).evidence[-1] == (
        "gpu[002,004]: in no partition in state UP, so no job can run there"
    )


def test_whole_cluster_asks_for_the_nodes_with_gpus_where_others_have_none(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = ONE_PARTITION
    hosts = machine.cast.hosts
    bare = replace(dgx(machine), gpus=())
    machine.cast = replace(
        machine.cast, hosts=tuple(replace(h, shape=bare) if h.node == "gpu001" else h for h in hosts)
    )
    whole_cluster.judge(machine)
    (request,) = submitted(machine)
    assert "-N 3 --exclusive --gpus=24 -w gpu[002-004] " in request


def test_whole_cluster_takes_as_many_nodes_as_the_partition_gives(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = ONE_PARTITION.replace("State=UP", "MaxNodes=2 State=UP")
    machine.jobs = (
        "JobId=1 JobState=RUNNING Reason=None "
        "Nodes=gpu[001-002] CPU_IDs=0-223 Mem=1 GRES=gpu:h100:8(IDX:0-7) MinCPUsNode=1\n"
    )
    verdict = whole_cluster.judge(machine)
    assert verdict.passed
    assert verdict.evidence == (
        "partition train: one job holds 2 nodes with 16 GPUs, as many as it takes (MaxNodes=2)",
    )
    assert "-N 2 --exclusive --gpus=16 -w gpu[001-002] " in submitted(machine)[0]


# -- partitions with rules of their own --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("OverSubscribe=EXCLUSIVE", "gives out whole nodes only (OverSubscribe=EXCLUSIVE)"),
        ("Exclusive=NODE", "gives out whole nodes only (Exclusive=NODE)"),
        ("MinNodes=2", "takes no job of one node (MinNodes=2)"),
        ("ReqResv=YES", "takes jobs of reservations only (ReqResv=YES)"),
        ("AllocNodes=login[1-2]", "takes jobs from certain hosts only (AllocNodes=login[1-2])"),
    ],
)
def test_one_gpu_jobs_are_not_tried_where_the_partition_forbids_them(
    recorded: Recorded, rule: str, words: str
) -> None:
    machine = recorded("24.11")
    machine.partitions = ONE_PARTITION.replace("State=UP", f"{rule} State=UP")
    each, local = gpus_each_once.judge(machine), gpu_locality.judge(machine)
    assert (each.passed, local.passed, submitted(machine)) == (None, True, [])
    assert each.evidence == (f"gpu001: not tried: partition train {words}",)
    assert local.evidence[0].endswith(f"no job was tried: partition train {words}")


def test_what_slurmd_reads_counts_where_no_job_is_tried(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = ONE_PARTITION.replace("State=UP", "OverSubscribe=EXCLUSIVE State=UP")
    machine.gres = machine.gres.replace("Cores=0-55", "Cores=56-111")
    assert not gpu_locality.judge(machine).passed


def test_one_gpu_jobs_go_through_the_partition_that_takes_them(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = (
        "PartitionName=whole Default=YES Nodes=gpu[001-004] OverSubscribe=EXCLUSIVE State=UP\n"
        "PartitionName=shared Nodes=gpu003 State=UP\n"
    )
    gpus_each_once.judge(machine)
    assert {request.split(" -N1")[0].split("-p ")[1] for request in submitted(machine)} == {
        "shared -w gpu003"
    }


@pytest.mark.parametrize("rule", ["ReqResv=YES", "AllocNodes=login1"])
def test_no_job_goes_to_a_partition_that_takes_none(recorded: Recorded, rule: str) -> None:
    machine = recorded("24.11")
    machine.partitions = ONE_PARTITION.replace("State=UP", f"{rule} State=UP")
    verdict = whole_cluster.judge(machine)
    assert (verdict.passed, submitted(machine)) == (None, [])
    assert verdict.skipped.startswith("partition train: not tried: it takes jobs ")


def test_locality_is_not_checked_where_no_gpu_has_a_known_numa_node(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    shape = dgx(machine)
    machine.expect(replace(shape, gpus=tuple(replace(gpu, numa=None) for gpu in shape.gpus)))
    verdict = gpu_locality.judge(machine)
    assert verdict.passed is None
    assert verdict.skipped.endswith("not checked: the NUMA node of none of its 8 GPUs is known")


def test_locality_fails_for_what_needs_no_numa_node(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    shape = dgx(machine)
    machine.expect(replace(shape, gpus=tuple(replace(gpu, numa=None) for gpu in shape.gpus)))
    machine.gres = ""
    assert gpu_locality.judge(machine).failed


def test_nothing_is_checked_where_no_node_has_gpus(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.expect(replace(dgx(machine), gpus=()))
    for verdict in (gpu_locality.judge(machine), gpus_each_once.judge(machine)):
        assert (verdict.passed, verdict.skipped) == (None, "no node has GPUs")


# -- what the scenarios stand on --------------------------------------------------------------------------


@all_releases
def test_partitions_that_take_jobs_come_with_their_nodes_the_default_first(
    recorded: Recorded, release: str
) -> None:
    assert jobs.partitions(recorded(release)) == {
        "train": ("gpu001", "gpu002", "gpu004"),
        "all": ("gpu001", "gpu002", "gpu003", "gpu004"),
        "odd": ("gpu001", "gpu003"),
        "fast": ("gpu001", "gpu002", "gpu003", "gpu004"),
    }


def test_a_partition_of_names_that_no_host_can_have_is_left_out(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.partitions = "PartitionName=a Nodes=gpu_1 State=UP\nPartitionName=b Nodes=gpu001 State=UP\n"
    assert jobs.partitions(machine) == {"b": ("gpu001",)}


def test_submitted_jobs_are_cancelled_whatever_happens(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    with contextlib.suppress(KeyError), jobs.jobs(machine, [["-N1"], ["-N2"]]) as ids:
        assert ids == (1, 2)
        raise KeyError
    assert ("scancel", "1", "2") in machine.asked


def test_a_refused_job_cancels_those_before_it(recorded: Recorded) -> None:
    machine = recorded("24.11")

    def requests() -> Any:
        yield ["-N1"]
        machine.refusal = "sbatch: error: no\n"
        yield ["-N2"]

    with (
        pytest.raises(jobs.SubmitError, match=r"sbatch -N2: sbatch: error: no"),
        jobs.jobs(machine, requests()),
    ):
        pass
    assert ("scancel", "9001") in machine.asked


@all_releases
def test_waiting_ends_when_every_node_has_answered(recorded: Recorded, release: str) -> None:
    machine = recorded(release)
    seen: list[int] = []
    nodes = registered.wait_for_nodes(machine, machine.cast.compute, seen.append)
    assert [node.name for node in nodes] == ["gpu001", "gpu002", "gpu003", "gpu004"]
    assert seen == [4]


def test_waiting_ends_when_nothing_moves_any_more(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.nodes = machine.nodes.replace("State=IDLE ", "State=UNKNOWN ", 1)
    seen: list[int] = []
    registered.wait_for_nodes(machine, machine.cast.compute, seen.append)
    assert set(seen) == {3}
    assert len(seen) > 2


def test_waiting_does_not_wait_for_refused_nodes_and_dead_slurmds(
    recorded: Recorded, capture: Capture
) -> None:
    machine = recorded("24.11")
    machine.nodes = capture("24.11", "too_few_gpus_node.txt").replace(
        "UNKNOWN+DRAIN+INVALID_REG", "UNKNOWN", 1
    )
    machine.failures = {"gpu001": capture("24.11", "no_device.log")}
    seen: list[int] = []
    registered.wait_for_nodes(machine, machine.cast.compute, seen.append)
    assert seen == [4]


def test_a_job_whose_nodes_run_their_prolog_is_waited_for(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.run_jobs("jobs_one_gpu.txt")
    ready, ids = machine.jobs, tuple(sorted({job.id for job in read_jobs(machine.jobs)}))
    machine.jobs = ready.replace("JobState=RUNNING", "JobState=CONFIGURING")
    looks: list[int] = []

    def done(now: dict[int, JobState]) -> bool:
        looks.append(len(now))
        if len(looks) == 200:  # 40 s later than the first look
            machine.jobs = ready
        return all(job.state == "RUNNING" for job in now.values())

    seen = jobs.settle(machine, ids, done)
    assert {job.state for job in seen.values()} == {"RUNNING"}
    assert len(looks) == 201


def test_a_busy_machine_gets_as_many_looks_before_a_waiting_job_is_an_answer(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = recorded("24.11")
    looks: list[float] = []
    original, clock = machine.ctl, vars(jobs)["time"]

    def slow(*argv: str, limit_s: float = 30) -> Result:
        clock.sleep(2)
        looks.append(clock.monotonic())
        return original(*argv)

    monkeypatch.setattr(machine, "ctl", slow)
    assert jobs.settle(machine, (1,), lambda _: False) == {}
    assert len(looks) > 20


@pytest.mark.usefixtures("recorded")
def test_nodes_busy_with_a_cancelled_job_are_waited_for_while_they_become_fewer() -> None:
    left = [3, *[2] * 100, 1, 0, 5]
    jobs.wait_until_free(lambda: left.pop(0))
    assert left == [5]


@pytest.mark.usefixtures("recorded")
def test_a_node_that_never_becomes_free_ends_the_wait() -> None:
    looks = iter([1] * 1000)
    jobs.wait_until_free(lambda: next(looks))
    assert len(list(looks)) > 800
