"""Facts of hosts: what is read, and that a host that differs from its type is named with both sides."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import check_facts, load_facts, load_host_facts

FACTS = """\
format: slurmwright/facts/1
host: gpu01
cpu:
  threads_per_core: 2
  numa:
    - {id: 0, socket: 0, cpus: "0-126:2"}
    - {id: 1, socket: 1, cpus: "1-127:2"}
memory: {real_memory_mb: 1031000}
gpus:
  - {pci: "00000000:4A:00.0", minor: 2, numa: 0, model: NVIDIA L40S}
  - {pci: "0000:61:00.0", minor: 3, numa: 0}
  - {pci: "0000:ca:00.0", minor: 0, numa: 1}
  - {pci: "0000:e1:00.0", minor: 1, numa: 1}
nics:
  - {name: mlx5_0, pci: "0000:a0:00.0", numa: 1}
"""
_NEXT = (
    "describe the host as it is, with a type of its own under node_types and a group of its own, "
    "or drain it until it is mended"
)


@pytest.fixture
def inventory(tmp_path: Path, good: str) -> Path:
    (tmp_path / "cluster.yaml").write_text(good.replace("dgx-h100", "l40s-4gpu"))
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "gpu01.yaml").write_text(FACTS)
    return tmp_path


@pytest.fixture
def cluster(load: Callable[[str], Cluster], good: str) -> Cluster:
    return load(good.replace("dgx-h100", "l40s-4gpu"))


def faults(inventory: Path, cluster: Cluster, old: str, new: str) -> list[str]:
    """The error lines after one piece of the facts was replaced, without the folder's name."""
    assert old in FACTS
    (inventory / "facts" / "gpu01.yaml").write_text(FACTS.replace(old, new, 1))
    try:
        check_facts(cluster, load_facts(inventory), inventory)
    except InputError as error:
        return str(error).replace(f"{inventory}/", "").splitlines()
    return []


def test_facts_lie_beside_cluster_yaml_one_file_per_host(inventory: Path) -> None:
    facts = load_facts(inventory)
    assert list(facts) == ["gpu01"]
    assert facts == load_facts(inventory / "cluster.yaml")
    gpus = facts["gpu01"].gpus
    assert gpus is not None
    assert [gpu.minor for gpu in gpus] == [2, 3, 0, 1]


def test_an_inventory_without_facts_has_none(tmp_path: Path) -> None:
    assert load_facts(tmp_path) == {}


def test_what_was_not_looked_at_is_absent_and_not_compared(inventory: Path, cluster: Cluster) -> None:
    (inventory / "facts" / "gpu01.yaml").write_text("format: slurmwright/facts/1\nhost: gpu01\n")
    facts = load_facts(inventory)
    assert facts["gpu01"].gpus is None
    check_facts(cluster, facts, inventory)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("minor: 2", "minor: 7"),
        ("1031000", "900000"),
        (', numa: 1}\n  - {pci: "0000:e1', '}\n  - {pci: "0000:e1'),
    ],
)
def test_minors_memory_and_an_unknown_numa_node_need_not_equal_the_type(
    inventory: Path, cluster: Cluster, old: str, new: str
) -> None:
    assert faults(inventory, cluster, old, new) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            '  - {pci: "0000:e1:00.0", minor: 1, numa: 1}\n',
            "",
            "9:1: gpu01 has 3 GPUs but its type l40s-4gpu has 4; write under its group: "
            "exceptions: {gpu01: {gpus_missing: [3]}}, or drain it until it is mended",
        ),
        (
            "0000:e1:00.0",
            "0000:e2:00.0",
            "13:11: gpu01 has a GPU at 0000:e2:00.0 but its type l40s-4gpu has none there "
            f"(it has 0000:e1:00.0); {_NEXT}",
        ),
        (
            "threads_per_core: 2",
            "threads_per_core: 1",
            f"3:1: gpu01 has cores: 128 but its type l40s-4gpu has 64; {_NEXT}\n"
            f"3:1: gpu01 has threads per core: 1 but its type l40s-4gpu has 2; {_NEXT}",
        ),
        ("socket: 1", "socket: 0", f"3:1: gpu01 has sockets: 1 but its type l40s-4gpu has 2; {_NEXT}"),
        (
            '    - {id: 1, socket: 1, cpus: "1-127:2"}\n',
            '    - {id: 1, socket: 1, cpus: "1-63:2"}\n    - {id: 2, socket: 1, cpus: "65-127:2"}\n',
            f"3:1: gpu01 has NUMA nodes: 3 but its type l40s-4gpu has 2; {_NEXT}",
        ),
    ],
)
def test_a_host_that_differs_from_its_type_is_named_with_both_sides(
    inventory: Path, cluster: Cluster, old: str, new: str, line: str
) -> None:
    expected = [f"facts/gpu01.yaml:{one}" for one in line.splitlines()]
    assert faults(inventory, cluster, old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("host: gpu01", "host: gpu02", "2:7: host is 'gpu02' but the file is gpu01.yaml; rename one"),
        (
            "facts/1",
            "facts/2",
            "1:9: format is 'slurmwright/facts/2'; expected 'slurmwright/facts/1': the format "
            "of this file; did you mean 'slurmwright/facts/1'?",
        ),
        ("minor: 3", "minor: 2", "11:34: minor 2 stands twice; two GPUs cannot be one device"),
        ('"0000:61:00.0"', "61", "11:11: pci is '61'; expected text; put it in quotes: \"61\""),
        ('"0000:61:00.0"', '"61:00.0"', "11:11: '61:00.0' is no PCI address; expected \"0000:1b:00.0\""),
        (
            '"0000:61:00.0"',
            "0000:41:00.0",
            "11:11: unquoted 0000:41:00.0 is a number to some YAML readers and text to others; put it in "
            'quotes: "0000:41:00.0"',
        ),
        (
            "0000:61:00.0",
            "0000:4a:00.0",
            "11:11: PCI address 0000:4a:00.0 stands twice; expected one entry per GPU",
        ),
        ("minor: 3, numa: 0", "minor: 3, numa: 2", "11:43: numa is 2 but the host's NUMA nodes are 0, 1"),
        ("minor: 3, ", "", "11:5: minor is missing; expected the N of its /dev/nvidiaN"),
        ("1-127:2", "0-126:2", "7:32: CPU 0 is already in NUMA node 0; a CPU is in one node"),
        ("1-127:2", "a-b", "7:32: 'a-b' is no list of CPU ids; expected for example \"0-55,112-167\""),
        ("1-127:2", "1-125:2", "7:32: 63 CPUs do not divide into cores of 2 threads"),
        ("{id: 1", "{id: 0", "7:12: NUMA node 0 stands twice; keep one"),
        ("memory:", "memroy:", "8:1: unknown key 'memroy'; did you mean 'memory'?"),
    ],
)
def test_a_bad_facts_file_is_one_line(
    inventory: Path, cluster: Cluster, old: str, new: str, line: str
) -> None:
    assert faults(inventory, cluster, old, new) == [f"facts/gpu01.yaml:{line}"]


def test_facts_of_a_host_that_is_not_in_the_cluster_are_refused(inventory: Path, cluster: Cluster) -> None:
    (inventory / "facts" / "gpu05.yaml").write_text(FACTS.replace("gpu01", "gpu05"))
    with pytest.raises(InputError) as caught:
        check_facts(cluster, load_facts(inventory), inventory)
    assert str(caught.value) == (
        f"{inventory}/facts/gpu05.yaml: 'gpu05' is no node of this cluster; rename or remove the file; "
        "did you mean 'gpu04'?"
    )


def test_the_faults_of_all_files_are_shown_at_once(inventory: Path) -> None:
    for host in ("gpu02", "gpu03"):
        (inventory / "facts" / f"{host}.yaml").write_text("")
    with pytest.raises(InputError) as caught:
        load_facts(inventory)
    assert len(caught.value.problems) == 2


def test_a_file_with_another_ending_is_not_passed_over_in_silence(inventory: Path) -> None:
    (inventory / "facts" / "gpu02.yml").write_text(FACTS)
    with pytest.raises(InputError, match="rename it to gpu02"):
        load_facts(inventory)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_facts_text_is_read_or_an_input_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(FACTS)))
    piece = data.draw(st.text(alphabet="ab1:-[]{}\"'#&*,. \n~", max_size=8))
    file = tmp_path_factory.getbasetemp() / "gpu01.yaml"
    file.write_text(FACTS[:start] + piece + FACTS[start + data.draw(st.integers(0, 9)) :])
    with contextlib.suppress(InputError):
        load_host_facts(file)
