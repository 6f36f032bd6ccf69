"""Node and partition lines: what is alike is one line, and every number is one that slurmd will find."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.hosts import expand
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import CpuFact, HostFacts, NumaFact
from slurmwright.render.described import describe
from slurmwright.render.node_lines import node_lines, partition_line

Make = Callable[..., Cluster]
Seen = Callable[..., HostFacts]
NUMBERS = "CPUs=16 Boards=1 SocketsPerBoard=2 CoresPerSocket=4 ThreadsPerCore=2 RealMemory=62000"


def nodes_of(cluster: Cluster, facts: dict[str, HostFacts] | None = None) -> list[str]:
    return [line.text for line in node_lines(cluster, describe(cluster, facts or {}))]


def partition_of(cluster: Cluster) -> dict[str, str]:
    return dict(partition_line(cluster, cluster.partitions[0], describe(cluster, {})).pairs)


def test_sixty_four_equal_nodes_are_one_line(make: Make) -> None:
    (line,) = nodes_of(make("{hosts: 'gpu[001-064]', type: dgx-h100, address: '10.20.1.[1-64]'}"))
    assert line == (
        "NodeName=gpu[001-064] NodeAddr=10.20.1.[1-64] CPUs=224 Boards=1 SocketsPerBoard=2 CoresPerSocket=56 "
        "ThreadsPerCore=2 RealMemory=2022000 Gres=gpu:h100:8 State=UNKNOWN"
    )


def test_nodes_with_other_device_numbers_are_still_one_line(make: Make, seen: Seen) -> None:
    facts = {"n2": seen("n2", gpus=[(3, 0), (2, 0), (1, 1), (0, 1)])}
    assert nodes_of(make(), facts) == [f"NodeName=n[1-4] {NUMBERS} Gres=gpu:h100:4 State=UNKNOWN"]


def test_groups_that_are_alike_are_one_line(make: Make) -> None:
    lines = nodes_of(make("{hosts: 'a[1-2]', type: small}\n{hosts: 'b[1-2]', type: small}"))
    assert lines == [f"NodeName=a[1-2],b[1-2] {NUMBERS} Gres=gpu:h100:4 State=UNKNOWN"]


def test_what_differs_splits_the_line(make: Make, seen: Seen) -> None:
    facts = {f"n{at}": seen(f"n{at}", memory=32000 if at == 2 else 64000) for at in range(1, 5)}
    names = [line.partition(" ")[0] for line in nodes_of(make(), facts)]
    assert names == ["NodeName=n[1,3-4]", "NodeName=n2"]


def test_an_address_stays_beside_its_host_when_a_line_is_split(make: Make, seen: Seen) -> None:
    cluster = make("{hosts: 'n[1-4]', type: small, address: '10.0.0.[14,12,13,11]'}")
    facts = {f"n{at}": seen(f"n{at}", memory=32000 if at == 2 else 64000) for at in range(1, 5)}
    first, second = nodes_of(cluster, facts)
    assert first.startswith("NodeName=n[1,3-4] NodeAddr=10.0.0.[14,13,11] ")
    assert second.startswith("NodeName=n2 NodeAddr=10.0.0.12 ")


def test_features_weight_and_options_stand_on_the_line(make: Make) -> None:
    group = (
        "{hosts: n1, type: small, features: [fast, ib], weight: 5, options: {State: DRAIN, coreSpecCount: 1}}"
    )
    assert nodes_of(make(group)) == [
        f"NodeName=n1 {NUMBERS} Gres=gpu:h100:4 Features=fast,ib Weight=5 State=DRAIN CoreSpecCount=1"
    ]


def test_own_parameters_of_a_group_join_the_switch_in_one_key(make: Make) -> None:
    group = "{hosts: a1, type: dgx-a100-80gb, options: {parameters: [allow_ecores]}}"
    (line,) = nodes_of(make(group, release="25.11"))
    assert line.count("Parameters=") == 1
    assert "Parameters=numa_node_as_socket,allow_ecores " in line


def test_memory_that_is_only_nominal_is_marked(make: Make) -> None:
    cluster = make("{hosts: n1, type: dgx-a100-80gb}")
    (line,) = node_lines(cluster, describe(cluster, {}))
    assert line.comments == ("assumed: RealMemory from the nominal memory of dgx-a100-80gb",)


def test_a_node_without_gpus_has_no_gres(make: Make) -> None:
    cluster = make("{hosts: n1, type: plain}", types="  plain: {extends: small, gpu: {count: 0}, gpus: []}\n")
    assert nodes_of(cluster) == [f"NodeName=n1 {NUMBERS} State=UNKNOWN"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(1, 300), min_size=1, max_size=40, unique=True),
    st.lists(st.sampled_from([None, 31000, 64000]), min_size=40, max_size=40),
    st.booleans(),
)
def test_lines_hold_every_host_once_with_its_own_address(
    make: Make, seen: Seen, numbers: list[int], sizes: list[int | None], with_addresses: bool
) -> None:
    hosts = [f"n{number}" for number in numbers]
    addresses = [f"10.1.{number % 3}.{number % 250 + 1}" for number in range(len(numbers))]
    group = f"{{hosts: {hosts}, type: small" + (f", address: {addresses}}}" if with_addresses else "}")
    facts = {host: seen(host, memory=size) for host, size in zip(hosts, sizes, strict=False) if size}
    cluster = make(group)
    found: dict[str, str] = {}
    for line in node_lines(cluster, describe(cluster, facts)):
        pairs = dict(line.pairs)
        names = expand(pairs["NodeName"])
        assert not found.keys() & set(names)
        found.update(zip(names, expand(pairs.get("NodeAddr", pairs["NodeName"])), strict=True))
    assert found == dict(zip(hosts, addresses if with_addresses else hosts, strict=True))


def test_a_partition_of_all_nodes_says_so(make: Make) -> None:
    assert partition_of(make()) == {
        "PartitionName": "p",
        "Nodes": "ALL",
        "Default": "YES",
        "MaxTime": "UNLIMITED",
        "DefCpuPerGPU": "4",
        "DefMemPerGPU": "15500",
        "State": "UP",
    }


def test_a_partition_by_type_or_feature_has_the_hosts_of_those_groups(make: Make) -> None:
    nodes = "{hosts: 'a[1-2]', type: small}\n{hosts: 'b[1-2]', type: small, features: [big]}"
    cluster = make(
        nodes, partitions="{name: p, nodes: {feature: big}, max_time: 60, priority_tier: 3, state: DRAIN}"
    )
    pairs = partition_of(cluster)
    assert (pairs["Nodes"], pairs["MaxTime"], pairs["PriorityTier"], pairs["State"]) == (
        "b[1-2]",
        "60",
        "3",
        "DRAIN",
    )
    assert "Default" not in pairs


def test_a_default_job_fits_on_the_smallest_node_of_its_partition(make: Make) -> None:
    types = "  tiny: {extends: small, memory: {real_memory_mb: 16000}}\n"
    pairs = partition_of(make("{hosts: n1, type: small}\n{hosts: n2, type: tiny}", types=types))
    assert (pairs["DefCpuPerGPU"], pairs["DefMemPerGPU"]) == ("4", "3750")


def test_a_default_job_stays_on_the_socket_of_its_gpu(make: Make) -> None:
    """DGX A100: two GPUs share one of eight sockets with 16 cores of two threads."""
    assert partition_of(make("{hosts: n1, type: dgx-a100-80gb}"))["DefCpuPerGPU"] == "16"


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ("{DefMemPerNode: 1000}", {"defcpupergpu", "defmempernode"}),
        ("{defmempercpu: 100}", {"defcpupergpu", "defmempercpu"}),
        ("{DefCpuPerGPU: 2}", {"defcpupergpu", "defmempergpu"}),
    ],
)
def test_one_kind_of_default_memory_only(make: Make, options: str, left: set[str]) -> None:
    cluster = make(partitions=f"{{name: p, nodes: all, options: {options}}}")
    written = [key.lower() for key in partition_of(cluster)]
    assert sorted(key for key in written if key.startswith(("defcpu", "defmem"))) == sorted(left)


@pytest.mark.parametrize(
    ("settings_given", "left"),
    [
        ("{DefMemPerCPU: 100}", {"DefCpuPerGPU"}),
        ("{defcpupergpu: 2}", {"DefMemPerGPU"}),
        ("{DefMemPerNode: null}", {"DefCpuPerGPU", "DefMemPerGPU"}),
    ],
)
def test_a_default_that_overrides_give_to_all_partitions_is_not_hidden_by_ours(
    make: Make, settings_given: str, left: set[str]
) -> None:
    pairs = partition_of(make(more=f"overrides: {{slurm.conf: {settings_given}}}"))
    assert {key for key in pairs if key.startswith("Def") and key != "Default"} == left


def test_host_names_of_their_own_stay_beside_their_hosts_when_facts_split_the_group(
    make: Make, seen: Seen
) -> None:
    nodes = "{hosts: [n2, n1], type: small, options: {NodeHostname: 'h[2,1]'}}"
    facts = {"n1": seen("n1", gpus=[(3, 0), (2, 0), (1, 1), (0, 1)])}
    (line,) = nodes_of(make(nodes), facts)
    assert expand(line.split()[0].removeprefix("NodeName=")) == ("n2", "n1")


def test_detected_gpus_on_a_numa_node_that_is_not_known_leave_the_even_share(make: Make) -> None:
    gpus = ", ".join(f"{{index: {at}, numa: 7}}" for at in range(4))
    types = f"  odd: {{extends: small, cpu: {{numa_per_socket: null, numbering: null}}, gpus: [{gpus}]}}\n"
    facts = HostFacts(
        format="slurmwright/facts/1",
        host="n1",
        cpu=CpuFact(threads_per_core=2, numa=(NumaFact(id=0, socket=0, cpus="0-15"),)),
    )
    cluster = make("{hosts: n1, type: odd, autodetect: nvml}", types=types)
    pairs = dict(partition_line(cluster, cluster.partitions[0], describe(cluster, {"n1": facts})).pairs)
    assert pairs["DefCpuPerGPU"] == "4"


def test_without_gpus_memory_is_shared_out_by_cpu(make: Make) -> None:
    cluster = make("{hosts: n1, type: plain}", types="  plain: {extends: small, gpu: {count: 0}, gpus: []}\n")
    assert partition_of(cluster)["DefMemPerCPU"] == "3875"
