"""Slurm's view of CPUs: cores partition the machine, and agree with what real machines print."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import Cpu, load_node_type, node_type_names
from slurmwright.topology.cpus import CpuLayout, layout_of, parse_cpus

FEW = settings(max_examples=60, deadline=None)

layouts = st.builds(
    lambda sockets, numa, cores, threads, numbering: CpuLayout.regular(
        sockets, numa * cores, threads, numa, numbering
    ),
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 12),
    st.integers(1, 4),
    st.sampled_from(["contiguous", "interleaved"]),
)


def lists(layout: CpuLayout) -> list[tuple[int, int, tuple[int, ...]]]:
    """The layout as a host shows it: NUMA id, package, OS CPU ids."""
    return [(node.id, node.socket, parse_cpus(node.cpu_list)) for node in layout.nodes]


@FEW
@given(layouts)
def test_every_cpu_and_every_core_belongs_to_one_numa_node(layout: CpuLayout) -> None:
    cpus = [cpu for node in layout.nodes for core in node.cores for cpu in core]
    assert sorted(cpus) == list(range(layout.cpus))
    spans = [node.core_range for node in layout.nodes]
    assert [core for first, last in spans for core in range(first, last + 1)] == list(range(layout.cores))


@FEW
@given(layouts, st.booleans())
def test_slurms_sockets_partition_the_cores(layout: CpuLayout, numa_as_socket: bool) -> None:
    sockets, cores_each = layout.slurm_sockets(numa_as_socket)
    spans = sorted({layout.socket_cores(node.id, numa_as_socket) for node in layout.nodes})
    assert spans == [(at * cores_each, (at + 1) * cores_each - 1) for at in range(sockets)]
    assert sockets * cores_each == layout.cores


@FEW
@given(layouts)
def test_smt_siblings_are_one_core(layout: CpuLayout) -> None:
    for node in layout.nodes:
        for core in node.cores:
            assert len(core) == layout.threads
            assert {b - a for a, b in itertools.pairwise(core)} <= {layout.cores}


@FEW
@given(layouts, st.randoms(use_true_random=False))
def test_what_a_host_shows_gives_the_same_layout_in_any_order(layout: CpuLayout, random: Any) -> None:
    shown = lists(layout)
    random.shuffle(shown)
    assert CpuLayout.from_lists(shown, layout.threads) == layout


def test_packages_are_ordered_by_their_lowest_cpu_not_by_their_number() -> None:
    layout = CpuLayout.from_lists([(0, 1, (0, 1, 4, 5)), (1, 0, (2, 3, 6, 7))], 2)
    assert [(node.id, node.socket, node.core_range) for node in layout.nodes] == [
        (0, 0, (0, 1)),
        (1, 1, (2, 3)),
    ]


@pytest.mark.parametrize(
    ("numa", "threads", "words"),
    [
        ([(0, 0, (0, 1)), (1, 0, (2,))], 1, "NUMA nodes have different numbers of CPUs"),
        (
            [(0, 0, (0, 1)), (1, 0, (2, 3)), (2, 1, (4, 5))],
            1,
            "packages have different numbers of NUMA nodes",
        ),
        ([(0, 0, (0, 1, 2))], 2, "3 CPUs of a NUMA node are no multiple of 2 threads"),
        ([], 1, "NUMA nodes have different numbers of CPUs"),
    ],
)
def test_hosts_that_no_node_line_describes_are_refused(
    numa: list[tuple[int, int, tuple[int, ...]]], threads: int, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        CpuLayout.from_lists(numa, threads)


def test_cores_that_do_not_divide_into_numa_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="6 cores do not divide into 4 NUMA nodes"):
        CpuLayout.regular(2, 6, 1, 4, "contiguous")


def test_alternating_os_numbers_leave_core_indexes_alone() -> None:
    layout = CpuLayout.regular(2, 32, 2, 1, "interleaved")
    assert [node.cpu_list for node in layout.nodes] == ["0-126:2", "1-127:2"]
    assert [node.core_range for node in layout.nodes] == [(0, 31), (32, 63)]
    assert layout.nodes[1].cores[0] == (1, 65)


def test_numa_nodes_are_sockets_only_under_the_switch() -> None:
    layout = CpuLayout.regular(2, 64, 2, 4, "contiguous")
    assert layout.splits_sockets
    assert (layout.slurm_sockets(True), layout.slurm_sockets(False)) == ((8, 16), (2, 64))
    assert (layout.socket_cores(3, True), layout.socket_cores(3, False)) == ((48, 63), (0, 63))


def test_a_numa_node_without_cpus_is_no_key() -> None:
    with pytest.raises(KeyError):
        CpuLayout.regular(2, 8, 1, 1, "contiguous").numa_node(2)


@FEW
@given(layouts)
def test_hwloc_is_told_every_cpu_once_in_the_order_of_cores(layout: CpuLayout) -> None:
    text = layout.hwloc_synthetic()
    indexes = re.search(r"indexes=([\d,]+)\)\Z", text)
    assert indexes is not None
    assert tuple(map(int, indexes[1].split(","))) == tuple(
        cpu for node in layout.nodes for core in node.cores for cpu in core
    )
    counts = [int(n) for n in re.findall(r"(?:pack|numa|core|pu):(\d+)", text)]
    product = 1
    for count in counts:
        product *= count
    assert product == layout.cpus


@pytest.mark.parametrize(
    "unknown", ["sockets", "cores_per_socket", "threads_per_core", "numa_per_socket", "numbering"]
)
def test_without_one_of_its_facts_a_type_has_no_layout(unknown: str) -> None:
    known = Cpu(sockets=2, cores_per_socket=4, threads_per_core=1, numa_per_socket=1, numbering="contiguous")
    assert layout_of(known) is not None
    assert layout_of(known.model_copy(update={unknown: None})) is None


@pytest.fixture(scope="module")
def published(field_data: Path) -> dict[str, Any]:
    """What machines of each type printed, and the cores that were worked out by hand from it."""
    text = (field_data / "hardware" / "node-types.yaml").read_text(encoding="utf-8")
    rows: dict[str, Any] = yaml.safe_load(text)["node_types"]
    return rows


def _cores_only(name: str) -> CpuLayout | None:
    """The layout for core indexes alone, which do not depend on SMT."""
    cpu = load_node_type(name).cpu
    return layout_of(cpu.model_copy(update={"threads_per_core": cpu.threads_per_core or 1}))


#: Types of which nobody published where the GPUs are; checked against the data below.
_UNPLACED = """
    aws-p6-b300.48xlarge aws-p6e-gb200 coreweave-gb200 coreweave-hgx-h100 digitalocean-h100-8
    gcp-a2-highgpu-8g gcp-a2-megagpu-16g gcp-a2-ultragpu-8g gcp-a3-highgpu-8g gcp-a3-megagpu-8g
    gcp-a3-ultragpu-8g gcp-a4-highgpu-8g gcp-a4x-highgpu-4g lambda-1cc-b200 lambda-1cc-h100 lambda-gh200-vm
    nebius-b200 nebius-b300 nebius-h200 oci-bm.gpu.b200.8 oci-bm.gpu.b300.8 oci-bm.gpu.gb200.4
    oci-bm.gpu.gb300.4 oci-bm.gpu.h200.8 oci-bm.gpu.mi300x.8"""
NO_CORES = frozenset(_UNPLACED.split())


@pytest.mark.parametrize("name", node_type_names())
def test_derived_cores_of_every_gpu_are_the_published_ones(name: str, published: dict[str, Any]) -> None:
    listed = published[name].get("gpus")
    gpus = [gpu for gpu in listed if gpu.get("slurm_cores")] if isinstance(listed, list) else []
    assert (not gpus) == (name in NO_CORES)
    if not gpus:
        return
    kind, layout = load_node_type(name), _cores_only(name)
    assert layout is not None
    derived = {
        gpu.index: "{}-{}".format(*layout.socket_cores(gpu.numa, layout.splits_sockets))
        for gpu in kind.gpus
        if gpu.numa is not None
    }
    assert derived == {gpu["index"]: gpu["slurm_cores"] for gpu in gpus}


def _printed(entry: str) -> tuple[int, ...]:
    """`node0: 0-71`, `0-222:2 (even)` and `nodes 2..33: no CPUs` as CPU ids."""
    text = re.sub(r" \(\w+\)\Z|\A[\w. ]+: ", "", entry)
    return () if re.search(r"no CPUs|empty", text) else parse_cpus(text)


@pytest.mark.parametrize("name", node_type_names())
def test_derived_cpus_of_every_numa_node_are_the_printed_ones(name: str, published: dict[str, Any]) -> None:
    layout = layout_of(load_node_type(name).cpu)
    printed = [cpus for cpus in map(_printed, (published[name].get("numa") or {}).get("cpus") or ()) if cpus]
    if layout is None:
        assert not printed or load_node_type(name).cpu.threads_per_core is None
        return
    assert [parse_cpus(node.cpu_list) for node in layout.nodes] == printed
