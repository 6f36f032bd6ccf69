"""Hosts that are described alike come together; what is not known is named with the way to give it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.render.described import describe

Make = Callable[..., Cluster]
Seen = Callable[..., HostFacts]
TWO = [(0, 0, "0-3,8-11"), (1, 1, "4-7,12-15")]
GPUS = "gpus: [{index: 0, numa: 0}, {index: 1, numa: 1}]"


def refused(cluster: Cluster, facts: dict[str, HostFacts] | None = None) -> list[str]:
    with pytest.raises(InputError) as error:
        describe(cluster, facts or {})
    return str(error.value).splitlines()


def test_hosts_without_facts_are_one(make: Make) -> None:
    (row,) = describe(make(), {})
    assert row.hosts == ("n1", "n2", "n3", "n4")
    assert [(device.minor, device.numa) for device in row.shape.devices] == [(0, 0), (1, 0), (2, 1), (3, 1)]
    assert row.shape.minors_assumed


def test_facts_that_say_what_the_type_says_only_take_the_doubt_away(make: Make, seen: Seen) -> None:
    facts = {"n2": seen("n2", TWO, [(0, 0), (1, 0), (2, 1), (3, 1)])}
    plain, known = describe(make(), facts)
    assert (plain.hosts, known.hosts) == (("n1", "n3", "n4"), ("n2",))
    assert not known.shape.minors_assumed
    assert known.shape.layout == plain.shape.layout


def test_device_numbers_and_their_numa_nodes_come_from_facts(make: Make, seen: Seen) -> None:
    facts = {"n1": seen("n1", gpus=[(2, 0), (3, 0), (0, 1), (1, 1)])}
    row = next(row for row in describe(make(), facts) if row.hosts == ("n1",))
    assert [(device.minor, device.numa) for device in row.shape.devices] == [(0, 1), (1, 1), (2, 0), (3, 0)]


def test_a_numa_node_that_the_kernel_does_not_tell_is_taken_from_the_type(make: Make, seen: Seen) -> None:
    facts = {"n1": seen("n1", gpus=[(0, None), (1, None), (2, None), (3, None)])}
    row = next(row for row in describe(make(), facts) if row.hosts == ("n1",))
    assert [device.numa for device in row.shape.devices] == [0, 0, 1, 1]


def test_on_one_numa_node_every_gpu_is_near_every_core(make: Make) -> None:
    types = """\
  one:
    cpu: {sockets: 1, cores_per_socket: 8, threads_per_core: 1, numa_per_socket: 1}
    memory: {real_memory_mb: 64000}
    gpu: {model: h100, count: 2}
"""
    (row,) = describe(make("{hosts: n1, type: one}", types=types), {})
    assert [device.numa for device in row.shape.devices] == [0, 0]


@pytest.mark.parametrize(
    ("type_lines", "words"),
    [
        (
            "memory: {nominal_gib: 64}",
            "cpu.sockets, cpu.cores_per_socket, cpu.threads_per_core, cpu.numa_per_socket not known; "
            "give cpu: {sockets: N, cores_per_socket: N, threads_per_core: N, numa_per_socket: N} in "
            "node_types, or facts of every host",
        ),
        (
            "cpu: {sockets: 1, cores_per_socket: 8, threads_per_core: 1, numa_per_socket: 1}",
            "memory not known; give memory: {real_memory_mb: N} in node_types with what `slurmd -C` prints, "
            "or facts",
        ),
        (
            "extends: small\n    gpu: {model: null}",
            "gpu.model not known; give gpu: {model: NAME} in node_types (`slurmwright types` lists what "
            "there is)",
        ),
        (
            "extends: small\n    gpu: {model: mi300x}",
            "AMD GPUs are listed but not rendered: their device files (renderD*) and AutoDetect=rsmi are not "
            "supported",
        ),
        (
            "extends: small\n    gpus: []",
            "NUMA nodes of its GPUs not known; give gpus: [{index: 0, numa: N}, ...] in node_types, or facts "
            "of every host, or `autodetect` on the group",
        ),
    ],
)
def test_what_must_be_given_is_named(make: Make, type_lines: str, words: str) -> None:
    cluster = make("{hosts: n1, type: odd}", types=f"  odd:\n    {type_lines}\n")
    assert refused(cluster) == [f"node type 'odd': {words}"]


def test_everything_that_is_missing_is_said_at_once_and_once(make: Make) -> None:
    nodes = (
        "{hosts: a1, type: nebius-h200}\n{hosts: b1, type: nebius-h200}\n{hosts: c1, type: gcp-a3-highgpu-8g}"
    )
    lines = refused(make(nodes))
    assert [line.split(":")[0] for line in lines] == [
        "node type 'gcp-a3-highgpu-8g'",
        "node type 'nebius-h200'",
        "node type 'nebius-h200'",
    ]


def test_facts_of_every_host_stand_in_for_a_type_that_knows_nothing(make: Make, seen: Seen) -> None:
    nodes = '{hosts: "a[1-2]", type: odd}'
    cluster = make(nodes, types="  odd: {gpu: {model: h100, count: 2}}\n")
    full = {host: seen(host, TWO, [(0, 0), (1, 1)], 64000) for host in ("a1", "a2")}
    (row,) = describe(cluster, full)
    assert (row.shape.layout.cpus, row.shape.memory_mb) == (16, 62000)
    assert refused(cluster, {"a1": full["a1"]})


def test_autodetection_needs_no_map_of_the_gpus(make: Make) -> None:
    cluster = make("{hosts: n1, type: odd, autodetect: nvml}", types="  odd: {extends: small, gpus: []}\n")
    (row,) = describe(cluster, {})
    assert row.shape.autodetect == "nvml"


def test_a_gpu_on_a_numa_node_without_cpus_is_refused(make: Make, seen: Seen) -> None:
    facts = {"n1": seen("n1", gpus=[(0, 0), (1, 0), (2, 1), (3, 9)])}
    assert refused(make(), facts) == [
        "n1: /dev/nvidia3 is on NUMA node 9, but the NUMA nodes with CPUs are 0, 1; correct gpus or cpu in "
        "node_types, or facts"
    ]


def test_hosts_that_no_node_line_describes_are_refused_each_by_name(make: Make, seen: Seen) -> None:
    uneven = [(0, 0, "0-3,8-11"), (1, 1, "4-5,12-13")]
    lines = refused(make(), {"n1": seen("n1", uneven)})
    assert lines == [
        "n1: NUMA nodes have different numbers of CPUs, and one node line cannot say so; correct its facts, "
        "or drain the host"
    ]


def test_options_are_spelled_as_in_slurms_manual(make: Make) -> None:
    (row,) = describe(make("{hosts: n1, type: small, options: {corespeccount: 1}}"), {})
    assert row.shape.options == (("CoreSpecCount", "1"),)
