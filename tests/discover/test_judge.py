"""facts check: the host that differs is named, and a wrong type does not accuse all of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.finding import Finding, Severity
from slurmwright.discover.judge_hosts import judge
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import CpuFact, GpuFact, HostFacts, MemoryFact, NicFact, NumaFact, SystemFact
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml

BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")
TEXT = """\
name: pod1
slurm: {release: "24.11"}
control: {controllers: [ctl1]}
nodes:
  - {hosts: "gpu[1-5]", type: TYPE}
partitions:
  - {name: train, nodes: all, default: true}
"""


def _cluster(kind: str = "dgx-b200", text: str = TEXT) -> Cluster:
    return cluster_from(parse_yaml(text.replace("TYPE", kind), "cluster.yaml"))


def _facts(host: str, **other: Any) -> HostFacts:
    """A DGX B200 as it should be."""
    row = ["NV18"] * 8
    whole = {
        "cpu": CpuFact(
            threads_per_core=2,
            numa=(
                NumaFact(id=0, socket=0, cpus="0-55,112-167"),
                NumaFact(id=1, socket=1, cpus="56-111,168-223"),
            ),
        ),
        "memory": MemoryFact(real_memory_mb=2063892),
        "gpus": tuple(
            GpuFact(
                pci=f"0000:{bus}:00.0",
                minor=at,
                numa=at // 4,
                model="NVIDIA B200",
                memory_mb=183359,
                firmware="97.00.82",
                pcie_width=16,
                pcie_width_max=16,
            )
            for at, bus in enumerate(BUSES)
        ),
        "gpu_links": tuple(" ".join([*row[:at], "X", *row[at + 1 :]]) for at in range(8)),
        "nics": tuple(
            NicFact(
                name=f"mlx5_{at}", pci=f"0000:{bus[0]}8:00.0", rate_gbps=400, state="ACTIVE", firmware="28.39"
            )
            for at, bus in enumerate(("1b", "43", "52"))
        ),
        "system": SystemFact(driver="570.158.01"),
    }
    return HostFacts.model_validate({"format": "slurmwright/facts/1", "host": host, **whole, **other})


def _without_gpu(facts: HostFacts) -> HostFacts:
    return facts.model_copy(update={"gpus": (facts.gpus or ())[1:], "gpu_links": None})


def _gpu(**changes: Any) -> Callable[[HostFacts], HostFacts]:
    def change(facts: HostFacts) -> HostFacts:
        first, *rest = facts.gpus or ()
        return facts.model_copy(update={"gpus": (first.model_copy(update=changes), *rest)})

    return change


def _nic(**changes: Any) -> Callable[[HostFacts], HostFacts]:
    def change(facts: HostFacts) -> HostFacts:
        first, *rest = facts.nics or ()
        return facts.model_copy(update={"nics": (first.model_copy(update=changes), *rest)})

    return change


def _cpu(threads: int, *nodes: tuple[int, str]) -> Callable[[HostFacts], HostFacts]:
    numa = tuple(NumaFact(id=at, socket=socket, cpus=cpus) for at, (socket, cpus) in enumerate(nodes))
    return lambda facts: facts.model_copy(update={"cpu": CpuFact(threads_per_core=threads, numa=numa)})


def _swapped(facts: HostFacts) -> HostFacts:
    one, two, *rest = facts.gpus or ()
    turned = (one.model_copy(update={"minor": 1}), two.model_copy(update={"minor": 0}), *rest)
    return facts.model_copy(update={"gpus": turned})


def _link_down(facts: HostFacts) -> HostFacts:
    first, second, *rest = facts.gpu_links or ()
    return facts.model_copy(
        update={
            "gpu_links": (first.replace("X NV18", "X NODE", 1), second.replace("NV18 X", "NODE X", 1), *rest)
        }
    )


HARMS: dict[str, tuple[Callable[[HostFacts], HostFacts], str]] = {
    "gpu-missing": (_without_gpu, "has 7 GPUs, its siblings have 8; gone: 0000:1b:00.0"),
    "gpu-model-differs": (_gpu(model="NVIDIA H100"), "NVIDIA B200 and NVIDIA H100"),
    "gpu-memory-differs": (_gpu(memory_mb=80000), "183359 MiB and 80000 MiB"),
    "gpu-firmware-differs": (_gpu(firmware="96.00"), "96.00 and 97.00.82"),
    "gpu-at-another-numa-node": (_gpu(numa=1), "0000:1b:00.0=1"),
    "pcie-narrow": (_gpu(pcie_width=8), "GPU 0000:1b:00.0 runs with x8 lanes, expected x16"),
    "nvlink-down": (_link_down, "GPU0-GPU1 NODE instead of NV18"),
    "memory-missing": (
        lambda facts: facts.model_copy(update={"memory": MemoryFact(real_memory_mb=1999000)}),
        "has 1999000 MiB of memory",
    ),
    "smt-differs": (_cpu(1, (0, "0-55"), (1, "56-111")), "threads per core: 1, but 4 of 5 hosts"),
    "nps-differs": (
        _cpu(2, (0, "0-27,112-139"), (0, "28-55,140-167"), (1, "56-83,168-195"), (1, "84-111,196-223")),
        "NUMA nodes with CPUs: 4, but 4 of 5",
    ),
    "minors-in-another-order": (_swapped, "0000:1b:00.0=1, 0000:43:00.0=0"),
    "nic-missing": (
        lambda facts: facts.model_copy(update={"nics": (facts.nics or ())[1:]}),
        "has no NIC at 0000:18:00.0",
    ),
    "nic-slow": (_nic(rate_gbps=200), "has 200 Gbit/s, ACTIVE; most siblings have 400 Gbit/s, ACTIVE"),
    "nic-firmware-differs": (_nic(firmware="28.40"), "mlx5_0=28.40"),
    "driver-differs": (
        lambda facts: facts.model_copy(update={"system": SystemFact(driver="550.1")}),
        "NVIDIA driver: 550.1, but 4 of 5",
    ),
}


def _judge(hosts: dict[str, HostFacts], cluster: Cluster | None = None) -> list[Finding]:
    return list(judge(cluster or _cluster(), hosts, Path("inv")))


def _alike() -> dict[str, HostFacts]:
    return {f"gpu{at}": _facts(f"gpu{at}") for at in range(1, 6)}


def test_hosts_that_are_alike_and_like_their_type_give_no_finding() -> None:
    assert _judge(_alike()) == []


@pytest.mark.parametrize("name", HARMS)
@settings(max_examples=5, deadline=None)
@given(at=st.integers(1, 5))
def test_the_one_host_that_differs_is_named_with_both_sides(name: str, at: int) -> None:
    harm, words = HARMS[name]
    hosts = _alike()
    hosts[f"gpu{at}"] = harm(hosts[f"gpu{at}"])
    found = [one for one in _judge(hosts) if one.severity is not Severity.INFO]
    assert {one.host for one in found if one.host} == {f"gpu{at}"}
    (own,) = [one for one in found if one.name == name]
    assert words in own.message
    assert own.file.endswith(f"facts/gpu{at}.yaml")


def test_a_type_that_is_wrong_for_all_accuses_no_host() -> None:
    found = _judge(_alike(), _cluster("dgx-a100-80gb"))
    assert {one.host for one in found} == {""}
    assert {one.name for one in found} == {"type-differs-from-its-hosts"}
    assert "the type is wrong for them rather than they are" in found[0].message


def test_hosts_that_split_in_halves_name_both_sides() -> None:
    hosts = {"gpu1": _facts("gpu1"), "gpu2": _facts("gpu2", system=SystemFact(driver="550.1"))}
    (found,) = [one for one in _judge(hosts) if one.name == "driver-differs"]
    assert found.host == ""
    assert found.evidence == ("gpu1: 570.158.01; gpu2: 550.1",)


def test_a_gpu_that_exceptions_declare_missing_is_no_finding() -> None:
    hosts = _alike()
    hosts["gpu2"] = _without_gpu(hosts["gpu2"])
    text = TEXT.replace("type: TYPE}", "type: TYPE, exceptions: {gpu2: {gpus_missing: [0]}}}")
    found = _judge(hosts, _cluster(text=text))
    assert [one for one in found if one.name == "gpu-missing"] == []


def test_hosts_without_facts_are_named_as_not_checked() -> None:
    (found,) = _judge({"gpu1": _facts("gpu1")})
    assert (found.name, found.severity) == ("not-checked", Severity.INFO)
    assert "4 hosts have no facts and were not checked: gpu[2-5]" in found.message


def test_a_nvlink_that_is_down_is_seen_on_a_host_alone() -> None:
    assert "nvlink-down" in {one.name for one in _judge({"gpu1": _link_down(_facts("gpu1"))})}


def test_two_gpu_models_in_one_partition_are_warned_of_with_why() -> None:
    text = TEXT.replace("gpu[1-5]", "gpu[1-4]").replace(
        "partitions:", '  - {hosts: "gpu5", type: dgx-h100}\npartitions:'
    )
    (found,) = [one for one in _judge({"gpu1": _facts("gpu1")}, _cluster(text=text)) if one.rule == "FA017"]
    assert found.severity is Severity.WARNING
    assert "as slowly as its slowest GPU" in found.message


def test_a_fabric_below_100_gbit_is_warned_of() -> None:
    slow = {
        host: _facts(host, nics=(NicFact(name="a", pci="0000:18:00.0", rate_gbps=25),)) for host in _alike()
    }
    (found,) = [one for one in _judge(slow) if one.name == "slow-compute-fabric"]
    assert "gpu[1-5] has 25 Gbit/s" in found.message
