"""What a correct cluster must show comes from types, cluster.yaml and facts, never from a rendered file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.facts import load_facts
from slurmwright.model.load import load_cluster
from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode, expected_nodes

Expect = Callable[..., dict[str, ExpectedNode]]

_BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")


def gpu_facts(minors: str = "01234567", numa: str = "00001111") -> str:
    """The GPUs of a DGX H100 in PCI order, with these minors and NUMA nodes."""
    return "gpus:\n" + "".join(
        f'  - {{pci: "0000:{bus}:00.0", minor: {minor}, numa: {node}}}\n'
        for bus, minor, node in zip(_BUSES, minors, numa, strict=True)
    )


@pytest.fixture
def expect(tmp_path: Path) -> Expect:
    """What a cluster of one group must show; `more` goes into the group, facts are texts by host."""

    def expected(type_: str, more: str = "", rest: str = "", **facts: str) -> dict[str, ExpectedNode]:
        (tmp_path / "cluster.yaml").write_text(
            'name: small\nslurm: {release: "24.11", nvml: true}\ncontrol: {controllers: [ctl1]}\n'
            f"nodes:\n  - {{hosts: 'gpu[1-3]', type: {type_}{more}}}\n"
            f"partitions: [{{name: train, nodes: all, default: true}}]\n{rest}"
        )
        (tmp_path / "facts").mkdir()
        for host, text in facts.items():
            (tmp_path / "facts" / f"{host}.yaml").write_text(
                f"format: slurmwright/facts/1\nhost: {host}\n{text}"
            )
        return expected_nodes(load_cluster(tmp_path), load_facts(tmp_path))

    return expected


def test_a_type_gives_its_gpus_in_pci_order_as_an_assumption(expect: Expect) -> None:
    node = expect("dgx-h100")["gpu2"]
    assert [(gpu.minor, gpu.numa, gpu.type) for gpu in node.gpus] == [
        (minor, minor // 4, "h100") for minor in range(8)
    ]
    assert (node.type, node.minors_known, node.spare) == ("dgx-h100", False, ())
    assert (node.layout.sockets, node.layout.cores, node.layout.cpus) == (2, 112, 224)


def test_equal_hosts_are_one_value(expect: Expect) -> None:
    nodes = expect("dgx-h100")
    assert list(nodes) == ["gpu1", "gpu2", "gpu3"]
    assert nodes["gpu1"] is nodes["gpu3"]


def test_a_type_in_nps4_has_eight_numa_nodes_and_gpus_on_four_of_them(expect: Expect) -> None:
    node = expect("dgx-a100-80gb")["gpu1"]
    assert node.layout.splits_sockets
    assert [gpu.numa for gpu in node.gpus] == [3, 3, 1, 1, 7, 7, 5, 5]


def test_facts_beat_the_type_on_their_host_alone(expect: Expect) -> None:
    nodes = expect("dgx-h100", gpu2=gpu_facts(minors="76543210"))
    assert [(gpu.minor, gpu.numa) for gpu in nodes["gpu2"].gpus] == [
        (minor, int(minor < 4)) for minor in range(8)
    ]
    assert (nodes["gpu2"].minors_known, nodes["gpu1"].minors_known) == (True, False)


def test_slurm_counts_gpus_by_device_number(expect: Expect) -> None:
    node = expect("dgx-h100", gpu2=gpu_facts(minors="13572468", numa="01010101"))["gpu2"]
    found = [node.gpu_of_index(index) for index in range(9)]
    assert [gpu.minor for gpu in found if gpu] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert found[0] == ExpectedGpu(1, 0, "h100")
    assert found[8] is None


def test_the_cpu_layout_of_facts_is_taken_with_its_numbering(expect: Expect) -> None:
    cpus = (
        "cpu:\n  threads_per_core: 2\n  numa:\n"
        '    - {id: 0, socket: 0, cpus: "0-222:2"}\n    - {id: 1, socket: 1, cpus: "1-223:2"}\n'
    )
    nodes = expect("dgx-h100", gpu3=cpus)
    assert nodes["gpu3"].layout.numa_node(1).cpu_list == "1-223:2"
    assert nodes["gpu1"].layout.numa_node(1).cpu_list == "56-111,168-223"
    assert nodes["gpu3"].gpus == nodes["gpu1"].gpus


def test_a_numa_node_that_the_kernel_does_not_tell_is_the_one_of_the_type(expect: Expect) -> None:
    facts = gpu_facts().replace(", numa: 0", "").replace(", numa: 1", "")
    assert [gpu.numa for gpu in expect("dgx-h100", gpu2=facts)["gpu2"].gpus] == [0] * 4 + [1] * 4


def test_numa_nodes_of_different_size_are_one_error_line(expect: Expect) -> None:
    cpus = (
        "cpu:\n  threads_per_core: 2\n  numa:\n"
        '    - {id: 0, socket: 0, cpus: "0-59,112-171"}\n    - {id: 1, socket: 1, cpus: "60-111,172-223"}\n'
    )
    with pytest.raises(
        InputError, match=r"gpu3 cannot be rehearsed by its facts: .*different numbers of CPUs"
    ):
        expect("dgx-h100", gpu3=cpus)


def test_a_gpu_on_a_numa_node_without_cpus_is_one_error_line(expect: Expect) -> None:
    with pytest.raises(InputError, match=r"gpu1: /dev/nvidia7 is on NUMA node 5, but .* are 0, 1"):
        expect("dgx-h100", gpu1=gpu_facts(numa="00001115"))


def test_a_type_without_a_known_layout_names_what_is_missing(expect: Expect) -> None:
    own = "node_types:\n  odd: {memory: {nominal_gib: 512}, gpu: {model: l40s, count: 2}}\n"
    with pytest.raises(InputError, match=r"'odd'.*cpu\.sockets.*or facts"):
        expect("odd", rest=own)


def test_a_type_without_gpus_expects_none(expect: Expect) -> None:
    own = (
        "node_types:\n  plain:\n    cpu: {sockets: 2, cores_per_socket: 64, threads_per_core: 2, "
        "numa_per_socket: 1, numbering: contiguous}\n    memory: {nominal_gib: 512}\n"
    )
    node = expect("plain", rest=own)["gpu1"]
    assert (node.gpus, node.gpu_types, node.gpu_of_index(0)) == ((), (), None)


def test_a_gpu_that_is_gone_closes_ranks(expect: Expect) -> None:
    node = expect("dgx-h100", ", exceptions: {gpu2: {gpus_missing: [5]}}")["gpu2"]
    assert [(gpu.minor, gpu.numa) for gpu in node.gpus] == [
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 1),
        (5, 1),
        (6, 1),
    ]


def test_a_gpu_that_jobs_do_not_get_is_still_there(expect: Expect) -> None:
    node = expect("dgx-h100", ", exceptions: {gpu2: {gpus_withheld: [5]}}")["gpu2"]
    assert [gpu.minor for gpu in node.gpus] == [0, 1, 2, 3, 4, 6, 7]
    assert node.spare == (5,)


def test_a_divided_gpu_is_its_instances(expect: Expect) -> None:
    mig = ", mig: [{gpus: [7], profiles: {3g.40gb: 2}, caps: [[957, 958], [966, 967]]}]"
    node = expect("dgx-h100", mig)["gpu1"]
    assert node.gpu_types == (("3g.40gb", 2), ("h100", 7))
    last = node.gpu_of_index(8)
    assert last is not None
    assert last.files == (
        "/dev/nvidia7",
        "/dev/nvidia-caps/nvidia-cap966",
        "/dev/nvidia-caps/nvidia-cap967",
    )
    assert "MIG 3g.40gb" in last.label


def test_stand_in_capabilities_of_instances_are_all_different(expect: Expect) -> None:
    node = expect("dgx-h100", ", autodetect: nvml, mig: [{gpus: [6, 7], profiles: {1g.10gb: 7}}]")["gpu1"]
    caps = [cap for gpu in node.gpus for cap in gpu.caps]
    assert len(caps) == len(set(caps)) == 28


@pytest.mark.parametrize(("key", "name"), [("shards_per_gpu", "shard"), ("mps_per_gpu", "mps")])
def test_shares_are_counted_over_all_gpus(expect: Expect, key: str, name: str) -> None:
    assert expect("dgx-h100", f", {key}: 4")["gpu1"].shared == (name, 32)
