"""What confines jobs on a living node: each way to lose it is one cause, and a rendered node has none."""

from __future__ import annotations

import pytest

from slurmwright.core.finding import Finding
from slurmwright.doctor.judge import judge
from slurmwright.doctor.live import look

from .test_live import Fleet

SLURM = """\
ClusterName=pod1
TaskPlugin=task/cgroup,task/affinity
GresTypes=gpu
NodeName=n1 Sockets=2 CoresPerSocket=2 ThreadsPerCore=2 RealMemory=1000 Gres=gpu:4
"""
GRES = """\
NodeName=n1 Name=gpu File=/dev/nvidia[0-1] Cores=0-1
NodeName=n1 Name=gpu File=/dev/nvidia[2-3] Cores=2-3
"""
CGROUP = "ConstrainDevices=yes\nConstrainCores=yes\n"
#: Threads of a core are numbered at the end, as on most servers, and sockets in turn.
NUMA = """\
node=0 cpus=0,2,4,6 package=0 memory_kb=1
node=1 cpus=1,3,5,7 package=1 memory_kb=1
siblings=0,4
"""
BUSES = ("0000:1b:00.0", "0000:43:00.0", "0000:9d:00.0", "0000:c3:00.0")
PCI = "".join(f"pci={bus} class=0x030200 vendor=0x10de numa_node={at // 2}\n" for at, bus in enumerate(BUSES))


def _proc(*minors: int) -> str:
    rows = zip(BUSES, minors, strict=True)
    return "".join(
        f"Model: \t\t X\nBus Location: \t {bus}\nDevice Minor: \t {minor}\n" for bus, minor in rows
    )


def _devices(mode: str = "crw-rw-rw-", count: int = 4) -> str:
    return "".join(f"{mode} 1 root root 195, {at} Nov  1 10:00 /dev/nvidia{at}\n" for at in range(count))


HEALTHY = {
    "slurm-conf": SLURM,
    "gres-conf": GRES,
    "cgroup-conf": CGROUP,
    "numa": NUMA,
    "pci": PCI,
    "nvidia-proc": _proc(0, 1, 2, 3),
    "devices": _devices(),
}


def _judged(**changed: str) -> tuple[Finding, ...]:
    own = {**HEALTHY, **{key.replace("_", "-"): text for key, text in changed.items()}}
    seen = look(["n1"], Fleet({"n1": {key: text for key, text in own.items() if text}}), 1, lambda _: None)
    return judge(seen.hosts, seen.more)


def test_a_node_as_it_should_be_gives_nothing() -> None:
    assert _judged() == ()


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("constrain-devices-off", {"cgroup_conf": "ConstrainDevices=no\n"}),
        ("constrain-devices-off", {"cgroup_conf": "ConstrainCores=yes\n"}),
        ("node-without-cgroup-conf", {"cgroup_conf": ""}),
        ("task-cgroup-missing", {"slurm_conf": SLURM.replace("task/cgroup,", "")}),
        ("task-plugin-twice", {"slurm_conf": SLURM + "TaskPlugin=task/affinity\n"}),
        ("gpu-left-out", {"gres_conf": GRES.replace("[2-3]", "2"), "slurm_conf": SLURM.replace(":4", ":3")}),
        ("device-mode", {"devices": _devices("crw-rw----")}),
        ("cores-as-cpu-ids", {"gres_conf": GRES.replace("0-1 ", "0-1 ").replace("Cores=0-1", "Cores=0,2")}),
        (
            "cores-swapped",
            {"gres_conf": GRES.replace("=0-1", "=x").replace("=2-3", "=0-1").replace("=x", "=2-3")},
        ),
        ("minors-order", {"nvidia_proc": _proc(2, 3, 0, 1)}),
    ],
)
def test_each_way_to_lose_it_is_one_cause(name: str, changed: dict[str, str]) -> None:
    assert [(one.name, one.host) for one in _judged(**changed)] == [(name, "n1")]


def test_a_host_that_is_no_node_needs_no_cgroup_conf() -> None:
    own = {"slurm-conf": SLURM, "gres-conf": GRES}
    seen = look(["ctl1"], Fleet({"ctl1": own}), 1, lambda _: None)
    assert judge(seen.hosts, seen.more) == ()


def test_device_numbers_out_of_order_that_gres_conf_follows_are_no_fault() -> None:
    lines = GRES.replace("[0-1]", "[x]").replace("[2-3]", "[0-1]").replace("[x]", "[2-3]")
    assert _judged(nvidia_proc=_proc(2, 3, 0, 1), gres_conf=lines) == ()
