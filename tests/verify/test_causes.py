"""Each fault that breaks clusters, as jobs and hosts show it, to its own finding and to no other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from slurmwright.core.finding import Finding, Severity
from slurmwright.verify.causes import Case, findings
from slurmwright.verify.documents import Document
from slurmwright.verify.judge import Ground, judge_launch
from slurmwright.verify.judge_hosts import judge_hosts
from slurmwright.verify.launches import launches

from .conftest import document, node_of

H100 = node_of("dgx-h100-64n")
GRES = "NodeName=gpu1 Name=gpu Type=h100 File=/dev/nvidia[{}] Cores={}"
GOOD_GRES = (GRES.format("0-3", "0-55"), GRES.format("4-7", "56-111"))
Text = Mapping[str, Sequence[str]]
GOOD_FILES: Text = {
    "slurm.conf": ["TaskPlugin=task/cgroup,task/affinity"],
    "cgroup.conf": ["ConstrainDevices=yes"],
    "gres.conf": GOOD_GRES,
}


def host(files: Text = GOOD_FILES, **more: Any) -> dict[str, Any]:
    """A host without a fault, and what is different on this one."""
    rows = {
        name: {
            "path": f"/etc/slurm/{name}",
            "sha256": str(hash(tuple(text))),
            "lines": list(enumerate(text, 1)),
        }
        for name, text in files.items()
    }
    unit = {"ActiveState": "active", "UnitFileState": "enabled"}
    slurmd = {
        **unit,
        "Delegate": "yes",
        "LimitMEMLOCK": "infinity",
        "ExecMainStartTimestampMonotonic": "60000000",
    }
    return {
        "configuration": rows,
        "units": {"munge": unit, "slurmd": slurmd},
        "devices": {f"/dev/nvidia{n}": {"mode": "crw-rw-rw-", "made": 20.0} for n in range(8)},
        "gpus": {f"0000:{n + 1}b:00.0": {"minor": n, "numa": n // 4} for n in range(8)},
        "driver": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.158.01  Release Build",
        "munge": {"STATUS": "Success (0)", "ENCODE_TIME": "x (1764715018)", "DECODE_TIME": "x (1764715020)"},
        "cgroup": "v2",
        "jobs": ["7"],
        "skew": 0,
        **more,
    }


def jobs(none: Sequence[int] = (), *, far: bool = False, **more: Any) -> list[tuple[str, Document]]:
    """Documents of jobs with 0, 1 and 8 GPUs; `none` is what the job without GPUs could open, as the others
    can; `far` puts the one with one GPU on the other socket."""
    return [
        ("gpus-none", document(H100, none, cuda="", **more)),
        ("gpus-one", document(H100, {0, *none}, cuda="0", numa=1 if far else 0, **more)),
        ("gpus-all", document(H100, range(8), **more)),
    ]


def found(
    seen: Sequence[tuple[str, Document]] = tuple(jobs()),
    one: Mapping[str, Any] | None = None,
    other: Mapping[str, Any] | None = None,
    reasons: Mapping[str, str] | None = None,
    read: bool = True,
) -> tuple[Finding, ...]:
    """The findings where gpu1 showed `seen` and `one`, and another node `other`."""
    shapes = {"gpu1": H100, "gpu2": H100}
    hosts = {"gpu1": dict(one or host()), "gpu2": dict(other or host())}
    by_name = {launch.name: launch for launch in launches(H100)}
    points = [
        point for name, doc in seen for point in judge_launch(by_name[name], "gpu1", H100, [doc], Ground())
    ]
    points += judge_hosts(shapes, hosts, host())
    rows = {"gpu1": [(name, doc.data) for name, doc in seen]}
    return findings(Case(points, rows, hosts, shapes, reasons or {}, read))


def names(*args: Any, **more: Any) -> list[str]:
    return [one.name for one in found(*args, **more)]


def test_a_cluster_without_a_fault_has_no_finding() -> None:
    assert found() == ()


OPEN = jobs(range(8))
TWICE = ["TaskPlugin=task/cgroup,task/affinity", "TaskPlugin=task/none"]


@pytest.mark.parametrize(
    ("files", "name", "words"),
    [
        ({"cgroup.conf": ["ConstrainDevices=no"]}, "constrain-devices-off", "ConstrainDevices=no"),
        ({"cgroup.conf": ["ConstrainCores=yes"]}, "constrain-devices-off", "does not set ConstrainDevices"),
        ({"slurm.conf": ["TaskPlugin=task/affinity"]}, "task-cgroup-missing", "missing from TaskPlugin"),
        ({"slurm.conf": ["# x"]}, "task-cgroup-missing", "task/cgroup missing from TaskPlugin"),
        ({"slurm.conf": TWICE}, "task-plugin-twice", "sets TaskPlugin again"),
    ],
)  # fmt: skip
def test_open_devices_are_traced_to_the_line(files: Text, name: str, words: str) -> None:
    same = host({**GOOD_FILES, **files})
    (one,) = [one for one in found(OPEN, same, same) if one.name != "config-stale"]
    assert (one.name, one.severity) == (name, Severity.CRITICAL)
    assert words in one.message
    assert one.fix


def test_the_line_that_counts_is_named() -> None:
    same = host({**GOOD_FILES, "slurm.conf": [*GOOD_FILES["slurm.conf"], "TaskPlugin=task/none"]})
    one = found(OPEN, same, same)[0]
    assert (one.file, one.line, one.host) == ("/etc/slurm/slurm.conf", 2, "gpu1")


def test_a_missing_cgroup_conf_is_named() -> None:
    same = host({name: text for name, text in GOOD_FILES.items() if name != "cgroup.conf"})
    assert found(OPEN, same, same)[0].name == "cgroup-conf-missing"


def test_open_devices_without_reading_files_have_a_likely_cause() -> None:
    same = host({**GOOD_FILES, "cgroup.conf": ["ConstrainDevices=no"]})
    first = found(OPEN, same, same, read=False)[0]
    assert first.name == "devices-not-confined"
    assert "likely" in first.message
    assert any("can open 8" in line for line in first.evidence)


def test_a_gpu_left_out_of_gres_conf_is_told_from_a_filter_that_is_off() -> None:
    (one,) = found(jobs([7]))
    assert (one.name, one.severity) == ("gpu-left-out", Severity.CRITICAL)
    assert one.message.startswith("/dev/nvidia7 is left out of gres.conf")


def test_swapped_cores_are_known_by_jobs_on_the_other_socket() -> None:
    swapped = host({**GOOD_FILES, "gres.conf": [GRES.format("0-3", "56-111"), GRES.format("4-7", "0-55")]})
    assert names(jobs(far=True)) == ["cores-swapped"]
    assert [one for one in names(jobs(far=True), swapped, swapped) if one != "config-stale"] == [
        "cores-swapped"
    ]


def test_cores_written_as_cpu_ids_are_known_by_the_machines_own_numbers() -> None:
    ids = [H100.layout.numa_node(numa).cpu_list for numa in (0, 1)]
    lines = [GRES.format("0-3", ids[0]), GRES.format("4-7", ids[1])]
    same = host({**GOOD_FILES, "gres.conf": lines})
    (one,) = [one for one in found(jobs(far=True), same, same) if one.name != "config-stale"]
    assert one.name == "cores-as-cpu-ids"
    assert one.line == 1


@pytest.mark.parametrize(
    "reason", ["gres/gpu GRES core specification 0-55,112-167 out of range", "its state is inval"]
)
def test_cores_as_cpu_ids_that_keep_a_node_out_are_found_by_its_state(reason: str) -> None:
    lines = [GRES.format("0-3", H100.layout.numa_node(0).cpu_list)]
    same = host({**GOOD_FILES, "gres.conf": lines})
    reasons = {"gpu2": reason}
    case = found((), same, host({**GOOD_FILES, "gres.conf": [lines[0].replace("gpu1", "gpu2")]}), reasons)
    assert "cores-as-cpu-ids" in [one.name for one in case]


def files(mode: str = "crw-rw-rw-", count: int = 8, made: float = 20.0) -> dict[str, object]:
    return {f"/dev/nvidia{n}": {"mode": mode, "made": made} for n in range(count)}


#: The order of the PCI bus turned round.
BACKWARDS = {f"0000:{n + 1}b:00.0": {"minor": 7 - n, "numa": n // 4} for n in range(8)}


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"devices": files("crw-------")}, "device-mode"),
        ({"devices": files(count=7)}, "device-missing"),
        ({"munge": {"STATUS": "Invalid credential (15)"}}, "munge-key"),
        ({"munge": {"STATUS": "Expired credential (15)"}, "skew": 600}, "clock-off"),
        ({"skew": -600, "munge": {"STATUS": "Success (0)"}}, "clock-off"),
        ({"cgroup": "hybrid"}, "cgroup-hybrid"),
        ({"gpus": BACKWARDS}, "minors-order"),
        ({"driver": ""}, "driver"),
        ({"devices": files(made=70.0)}, "device-nodes-at-boot"),
        ({"ended": ["6", "7"], "jobs": ["7", "8"]}, "nothing-left"),
    ],
)  # fmt: skip
def test_what_one_host_shows_is_named_and_placed(more: Mapping[str, Any], name: str) -> None:
    told = [one for one in found(other=host(**more)) if one.name != "clock-off" or name == "clock-off"]
    assert {one.name for one in told} == {name}
    assert {one.host for one in told} == {"gpu2"}
    assert all(one.fix and one.evidence for one in told)


@pytest.mark.parametrize(
    ("key", "value", "name"),
    [("Delegate", "no", "unit-not-delegated"), ("LimitMEMLOCK", "65536", "memlock-limited")],
)
def test_what_the_unit_of_slurmd_says_is_found_while_jobs_still_run(key: str, value: str, name: str) -> None:
    other = host()
    other["units"] = {**other["units"], "slurmd": {**other["units"]["slurmd"], key: value}}
    assert names(other=other) == [name]


def test_a_daemon_that_does_not_start_at_boot_is_found() -> None:
    other = host()
    other["units"] = {**other["units"], "munge": {"ActiveState": "active", "UnitFileState": "disabled"}}
    (one,) = found(other=other)
    assert one.message == "munge does not start at boot (disabled)"


def test_a_stale_file_is_found_on_the_host_that_has_it() -> None:
    (one,) = found(other=host({**GOOD_FILES, "slurm.conf": ["TaskPlugin=task/cgroup"]}))
    assert (one.name, one.host) == ("config-stale", "gpu2")
    assert "/etc/slurm/slurm.conf" in one.evidence[0]


def test_a_failure_that_no_cause_explains_is_a_finding_of_its_own() -> None:
    (one,) = found(jobs(memory=None))
    assert one.name == "memory-limited"
    assert "ConstrainRAMSpace=yes" in one.fix


def test_a_host_that_tells_nothing_is_not_judged() -> None:
    assert found((), {"host": "gpu1", "driver": "x"}, host()) != ()
    points = list(judge_hosts({}, {"login1": {}}))
    assert not [point for point in points if point.fault]


def test_a_host_without_a_readable_slurm_conf_is_not_checked() -> None:
    points = [one for one in judge_hosts({}, {"a": host(), "b": {}}, host()) if one.check == "config-same"]
    assert {one.node: one.skipped for one in points} == {"a": "", "b": "no slurm.conf can be read there"}
