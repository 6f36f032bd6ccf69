"""What tasks saw, held against what their job had asked for and against the hardware."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.verify.documents import Document
from slurmwright.verify.expect import ExpectedGpu, ExpectedNode
from slurmwright.verify.judge import Ground, judge_beside, judge_launch
from slurmwright.verify.launches import SSH, Launch, launches, srun_options
from slurmwright.verify.reached import opened

from .conftest import document, node_of

H100, A100 = node_of("dgx-h100-64n"), node_of("dgx-a100-20n")
BY_NAME = {one.name: one for one in launches(H100)}


def faults(
    launch: str | Launch, *seen: Document, shape: ExpectedNode = H100, ground: Ground | None = None
) -> dict[str, str]:
    """Check → its first fault."""
    one = BY_NAME[launch] if isinstance(launch, str) else launch
    found: dict[str, str] = {}
    for point in judge_launch(one, "gpu1", shape, seen, ground or Ground()):
        if point.fault:
            found.setdefault(point.check, point.fault)
    return found


def one_each(numa: dict[int, int] | None = None) -> list[Document]:
    """Eight tasks with a GPU each, on the GPU's NUMA node or where `numa` says."""
    return [
        document(H100, [gpu.minor], numa=(numa or {}).get(gpu.minor, gpu.numa), rank=at)
        for at, gpu in enumerate(H100.gpus)
    ]


@pytest.mark.parametrize("count", [0, 1, 4, 8])
def test_a_job_that_opens_what_it_asked_for_passes(count: int) -> None:
    launch = next(one for one in launches(H100) if one.gpus == count and one.tasks == 1)
    assert faults(launch, document(H100, range(count))) == {}


@pytest.mark.parametrize(("count", "opens"), [(0, 8), (0, 1), (1, 8), (1, 2), (4, 3), (8, 7)])
def test_a_job_that_opens_more_or_less_is_a_fault(count: int, opens: int) -> None:
    launch = next(one for one in launches(H100) if one.gpus == count and one.tasks == 1)
    fault = faults(launch, document(H100, range(opens)))[launch.name]
    assert fault.startswith(f"a job that was given {count} of 8 GPUs can open {opens}: ")


@pytest.mark.parametrize(
    ("cpus", "fault"), [("0-223", ""), ("0-103,112-215", ""), ("0,112", "2 of 224 CPUs"), (None, "")]
)
def test_a_job_that_has_its_node_alone_may_use_most_of_its_cpus(cpus: str | None, fault: str) -> None:
    own = {"mode": "v2", "memory_max": None, "cpus": "0,112", "job_cpus": cpus}
    seen = faults("exclusive", document(H100, range(8), cgroup=own))
    assert fault in seen.get("exclusive", "")
    assert bool(seen) == bool(fault)


def test_a_session_over_ssh_has_no_environment_of_its_job() -> None:
    seen = document(H100, [3], cuda="")
    assert faults(Launch(SSH, 1, limited=False), seen) == {}
    assert "cuda-visible-devices" in faults("gpus-one", seen)


def test_where_a_gpu_lies_is_what_the_driver_in_the_job_says() -> None:
    other = {"0000:1b:00.0": {"minor": 0, "numa": 1}}
    fault = faults("gpus-one", document(H100, [0], numa=0, gpus=other))["cpu-locality"]
    assert fault.startswith("a task with /dev/nvidia0 of NUMA node 1 runs on 0")
    silent = {"0000:1b:00.0": {"minor": 0, "numa": -1}}
    assert faults("gpus-one", document(H100, [0], numa=0, gpus=silent)) == {}


@settings(max_examples=60)
@given(st.sets(st.integers(0, 7)), st.sampled_from([0, 1, 4, 8]))
def test_a_job_passes_only_when_it_opens_as_many_as_it_asked_for(opens: set[int], count: int) -> None:
    launch = next(one for one in launches(H100) if one.gpus == count and one.tasks == 1)
    assert (launch.name in faults(launch, document(H100, opens))) == (len(opens) != count)


def test_a_gpu_that_nobody_described_counts_when_it_opens() -> None:
    one = document(H100, [0])
    one.data["devices"]["/dev/nvidia8"] = {"open": "opened"}
    assert "/dev/nvidia8" in faults("gpus-one", one)["gpus-one"]


def test_a_refusal_by_file_mode_is_not_taken_for_the_cgroup() -> None:
    assert "EACCES" in faults("gpus-one", document(H100, [0], refused="EACCES"))["gpus-one"]


@pytest.mark.parametrize("how", ["ENXIO", "ENODEV", "EIO"])
def test_a_device_that_does_not_answer_is_given_and_broken(how: str) -> None:
    found = faults("gpus-one", document(H100, [0], through=how))
    assert set(found) == {"devices-answer"}
    assert how in found["devices-answer"]


def test_a_stand_in_has_no_driver_to_answer() -> None:
    assert faults("gpus-one", document(H100, [0], through="ENXIO"), ground=Ground(stand_ins=True)) == {}


def test_a_missing_device_file_is_named() -> None:
    one = document(H100, [0])
    del one.data["devices"]["/dev/nvidia7"]
    assert faults("gpus-one", one)["gpus-one"] == "/dev/nvidia7 is not there"


def test_cpus_of_the_other_socket_are_a_fault() -> None:
    fault = faults("gpus-one", document(H100, [4], numa=0))["cpu-locality"]
    assert "/dev/nvidia4 of NUMA node 1 runs on 0" in fault


def test_pages_on_the_other_socket_are_a_fault() -> None:
    found = faults("gpus-one", document(H100, [0], numa=0, pages=1))
    assert set(found) == {"memory-locality"}


def test_numa_nodes_are_those_of_the_hardware_not_of_the_order_of_gpus() -> None:
    first = next(one for one in A100.gpus if one.minor == 0)
    launch = next(one for one in launches(A100) if one.name == "gpus-one")
    assert first.numa == 3
    assert faults(launch, document(A100, [0], numa=3), shape=A100) == {}
    assert "cpu-locality" in faults(launch, document(A100, [0], numa=0), shape=A100)


def test_tasks_with_a_gpu_each_pass() -> None:
    assert faults("gpus-per-task", *one_each()) == {}


def test_two_tasks_with_the_same_gpu_are_a_fault() -> None:
    seen = [*one_each()[:7], document(H100, [0], rank=7)]
    assert "more than one task" in faults("gpu-bind", *seen)["gpu-bind"]


def test_tasks_that_may_use_more_cores_than_there_are_tasks_are_a_fault() -> None:
    seen = [replace(one, data={**one.data, "cpus": "0-15,112-127"}) for one in one_each()]
    fault = faults("gpus-per-task", *seen)["cores-limited"]
    assert fault == "a job that asked for 8 cores may use 32 CPUs (0-15,112-127)"


def test_tasks_that_all_run_on_one_socket_are_not_spread() -> None:
    found = faults("gpus-per-task", *one_each(dict.fromkeys(range(8), 0)))
    assert found["task-spread"] == "tasks with one GPU each run on NUMA nodes 0, the GPUs lie on 0, 1"


def test_a_task_that_did_not_answer_is_not_checked() -> None:
    (point,) = judge_launch(BY_NAME["gpus-per-task"], "gpu1", H100, one_each()[:7], Ground())
    assert (point.fault, point.skipped) == ("", "7 of 8 tasks answered")


def test_visible_devices_of_a_confined_job_count_from_zero() -> None:
    found = faults("gpus-one", document(H100, [4], numa=1, cuda="4"))
    assert found == {
        "cuda-visible-devices": "CUDA_VISIBLE_DEVICES=4, but a confined job counts its 1 GPUs from 0"
    }


def test_visible_devices_that_are_not_set_are_a_fault() -> None:
    assert faults("gpus-one", document(H100, [0], cuda=""))["cuda-visible-devices"].endswith(
        "not set for 1 GPUs"
    )


def test_visible_devices_may_be_uuids() -> None:
    assert faults("gpus-one", document(H100, [0], cuda="GPU-6f0e")) == {}


def test_more_cpus_than_asked_for_are_a_fault() -> None:
    found = faults("gpus-none", document(H100, cpus="0-223"))
    assert found["cores-limited"] == "a job that asked for one core may use 224 CPUs (0-223)"


@pytest.mark.parametrize(("memory", "shown"), [(None, "no limit"), (2022000 << 20, "2022000 MiB")])
def test_memory_beyond_what_was_asked_for_is_a_fault(memory: int | None, shown: str) -> None:
    found = faults("gpus-none", document(H100, memory=memory))
    assert found == {"memory-limited": f"a job that asked for 256 MiB has {shown}"}


def test_a_limit_on_locked_memory_is_a_fault() -> None:
    found = faults("gpus-none", document(H100, limits={"memlock": ["65536", "65536"]}))
    assert "65536 bytes" in found["memlock"]


def test_jobs_side_by_side_have_all_gpus_once() -> None:
    jobs = {str(at): document(H100, [at]).data for at in range(8)}
    assert [point.fault for point in judge_beside("gpu1", H100, jobs, Ground())] == [""]


def test_jobs_side_by_side_that_share_a_gpu_are_a_fault() -> None:
    jobs = {str(at): document(H100, [min(at, 6)]).data for at in range(8)}
    found = [point.fault for point in judge_beside("gpu1", H100, jobs, Ground())]
    assert found == [
        "/dev/nvidia6 can be opened by more than one job",
        "/dev/nvidia7 can be opened by no job",
    ]


def test_jobs_that_did_not_run_at_the_same_time_are_not_checked() -> None:
    jobs = {"0": document(H100, [0]).data}
    (point,) = judge_beside("gpu1", H100, jobs, Ground())
    assert point.skipped == "1 of 8 jobs of one GPU answered at the same time"


def test_without_cgroups_slurms_own_words_are_judged() -> None:
    told = document(H100, range(8), cuda="3")
    told.data["env"]["SLURM_JOB_GPUS"] = "3"
    assert faults("gpus-one", told, ground=Ground(confined=False)) == {}
    told.data["env"]["SLURM_JOB_GPUS"] = "3,4"
    assert "told of 2" in faults("gpus-one", told, ground=Ground(confined=False))["gpus-one"]


def test_instances_are_counted_by_their_own_files_and_not_by_the_gpus_that_they_share() -> None:
    divided = replace(
        H100, gpus=(ExpectedGpu(0, 0, "1g.10gb", (21, 22)), ExpectedGpu(0, 0, "1g.10gb", (30, 31)))
    )
    caps = {
        f"/dev/nvidia-caps/nvidia-cap{cap}": {"open": "opened" if cap < 30 else "EPERM"}
        for cap in (1, 21, 22, 30, 31)
    }
    found = opened(divided, {"devices": {"/dev/nvidia0": {"open": "opened"}}, "caps": caps})
    assert (found.gpus, found.others) == (divided.gpus[:1], ())


@pytest.mark.parametrize("nodes", [1, 64, 1000])
def test_the_number_of_launches_does_not_depend_on_the_nodes(nodes: int) -> None:
    options = [srun_options(one, nodes) for one in launches(H100)]
    assert len(options) == 7
    assert all(f"--nodes={nodes}" in one for one in options)


@settings(max_examples=80)
@given(
    st.dictionaries(
        st.sampled_from(["devices", "caps", "env", "numa", "pages", "cpus", "cgroup", "limits"]),
        st.one_of(st.none(), st.just({}), st.just("")),
    )
)
def test_a_document_with_holes_is_judged_without_an_error(holes: dict[str, object]) -> None:
    one = document(H100, [0])
    one.data.update({key: value if key != "env" else {} for key, value in holes.items()})
    one.data.update({key: {} for key in ("cgroup", "limits") if one.data.get(key) == ""})
    one.data.update({key: {} for key in ("numa", "pages") if one.data.get(key) == ""})
    list(judge_launch(BY_NAME["gpus-one"], "gpu1", H100, [one], Ground()))
