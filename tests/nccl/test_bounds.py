"""What is possible, against the figures that were published or came from NCCL's own code."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import load_node_type
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Fabric
from slurmwright.nccl.bandwidth import OPERATIONS, bandwidths, bus_factor
from slurmwright.nccl.bounds import Bound, bound, one_rail, shape_of


def of(kind: str, nodes: int, operation: str = "all_reduce", **fabric: object) -> Bound:
    told = Fabric.model_validate({"kind": "infiniband", **fabric}) if fabric else None
    return bound(operation, shape_of(load_node_type(kind), told), nodes)


@pytest.mark.parametrize(
    ("kind", "ring"),
    [
        ("dgx-a100-80gb", 240.0),
        ("dgx-h100", 370.8),
        ("dgx-h200", 370.8),
        ("dgx-b200", 721.8),
        ("dgx-b300", 721.8),
    ],
)
def test_in_one_node_the_ring_is_what_nccl_counts_for_nvlink(kind: str, ring: float) -> None:
    assert of(kind, 1).ring == ring


@pytest.mark.parametrize(("kind", "limit"), [("dgx-h100", 700), ("dgx-b200", 1400)])
def test_nvls_may_pass_the_line_rate_up_to_its_own_limit(kind: str, limit: float) -> None:
    assert of(kind, 1).limit == limit


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [("dgx-a100-80gb", 228, 235), ("dgx-h100", 476, 480), ("dgx-h200", 475, 480), ("dgx-b200", 830, 840)],
)
def test_a_good_node_is_about_the_expected(kind: str, low: float, high: float) -> None:
    expected = of(kind, 1).expected
    assert expected is not None
    assert low / expected >= 0.95
    assert high / expected < 1.05


def test_without_nvls_the_ring_is_expected() -> None:
    assert bound("all_reduce", shape_of(load_node_type("dgx-h100"), nvls=False), 1).expected == 370.8


@pytest.mark.parametrize(
    ("kind", "ring"),
    [("dgx-a100-80gb", 192.0), ("dgx-h100", 384.0), ("azure-standard_nd96isr_h100_v5", 384.0)],
)
@pytest.mark.parametrize("nodes", [2, 4, 8, 64, 1000])
def test_between_nodes_the_ring_is_the_rails_or_nvlink_whatever_the_count(
    kind: str, ring: float, nodes: int
) -> None:
    assert of(kind, nodes).ring == ring


def test_nvlink_bounds_a_ring_whose_rails_carry_much_more() -> None:
    assert of("dgx-a100-80gb", 4, rate_gbps=200, rails=16).ring == 240


@pytest.mark.parametrize(("nodes", "nvls_tree"), [(2, 461.6), (4, 364), (8, 364)])
def test_what_nccls_code_gives_for_trees_is_below_the_limit(nodes: int, nvls_tree: float) -> None:
    limit = of("azure-standard_nd96isr_h100_v5", nodes).limit
    assert limit is not None
    assert nvls_tree < limit


@pytest.mark.parametrize(("gbps", "raw"), [(100, 12.5), (200, 25.0), (400, 48.0), (800, 48.0)])
def test_a_rail_is_its_rate_or_its_slot(gbps: int, raw: float) -> None:
    shape = shape_of(load_node_type("dgx-h100"), Fabric(kind="roce", rate_gbps=gbps, rails=8))
    assert (shape.rail, shape.slot_bound) == (raw, raw < gbps / 8)


def test_eight_rails_of_400_carry_384() -> None:
    assert shape_of(load_node_type("dgx-h100")).node == 384


@pytest.mark.parametrize(("nodes", "factor"), [(2, 1.875), (4, 1.29), (8, 1.13), (10_000, 1.0)])
def test_no_algorithm_passes_what_a_node_must_send(nodes: int, factor: float) -> None:
    limit = of("dgx-h100", nodes).limit
    assert limit is not None
    assert round(limit / 384, 2) == pytest.approx(factor, abs=0.01)


@pytest.mark.parametrize("nodes", [8, 64])
def test_sharp_moves_the_limit_up_to_twice_the_rails(nodes: int) -> None:
    shape = shape_of(load_node_type("dgx-h100"), sharp=True)
    limit = bound("all_reduce", shape, nodes).limit
    assert limit == pytest.approx(384 * 2 * (8 * nodes - 1) / (8 * nodes), abs=0.1)


@pytest.mark.parametrize(
    ("kind", "nodes", "measured"),
    [("dgx-h100", 2, 489), ("dgx-h100", 4, 365.8), ("dgx-h100", 8, 386), ("dgx-h200", 248, 350)],
)
def test_what_was_measured_is_below_the_limit(kind: str, nodes: int, measured: float) -> None:
    limit = of(kind, nodes).limit
    assert limit is not None
    assert measured < limit


@pytest.mark.parametrize(("nodes", "limit"), [(2, 96.0), (4, 64.0), (64, 48.8)])
def test_alltoall_goes_over_one_rail_for_each_gpu(nodes: int, limit: float) -> None:
    assert of("dgx-h100", nodes, "alltoall").limit == limit


@pytest.mark.parametrize("operation", ["all_gather", "reduce_scatter"])
@pytest.mark.parametrize("nodes", [2, 4, 64])
def test_halves_of_all_reduce_have_its_limit(operation: str, nodes: int) -> None:
    assert of("dgx-h100", nodes, operation).limit == of("dgx-h100", nodes).limit


@pytest.mark.parametrize(("nodes", "ring"), [(2, 48.0), (64, 48.0)])
def test_rails_side_by_side_reach_one_rail_each(nodes: int, ring: float) -> None:
    found = bound("all_reduce", one_rail(shape_of(load_node_type("dgx-h100"))), nodes)
    assert (found.ring, found.limit) == (ring, ring)


def test_a_rack_of_nvlink_is_one_node() -> None:
    assert of("gb200-nvl72-tray", 18).ring == 721.8
    assert of("gb200-nvl72-tray", 36).expected is None


def test_without_nvlink_only_a_limit_is_told() -> None:
    assert of("l40s-4gpu", 1) == Bound(
        31.5, None, None, "PCIe; what is reached depends on switches and sockets"
    )
    assert of("h100-nvl-8gpu-lenovo-sr675v3", 1).ring is None


def test_a_network_that_nobody_described_has_no_bound() -> None:
    assert of("lambda-1cc-b200", 4).limit is None
    none = Fabric(kind="none")
    assert bound("all_reduce", shape_of(load_node_type("dgx-h100"), none), 4).limit is None


@pytest.mark.parametrize(
    ("operation", "factor"),
    [
        ("all_reduce", 1.75),
        ("all_gather", 0.875),
        ("reduce_scatter", 0.875),
        ("alltoall", 0.875),
        ("broadcast", 1),
    ],
)
def test_bus_over_algorithm_bandwidth(operation: str, factor: float) -> None:
    assert bus_factor(operation, 8) == factor


def test_a_line_of_nccl_tests_is_computed_as_there() -> None:
    # H100, 8 GPUs: 17179869184 bytes in 62726 us.
    algorithm, bus = bandwidths("all_reduce", 17179869184, 62726e-6, 8)
    assert (round(algorithm, 2), round(bus, 2)) == (273.89, 479.3)


def test_what_is_no_collective_is_an_error() -> None:
    with pytest.raises(InputError, match="did you mean 'all_reduce'"):
        bound("allreduce", shape_of(load_node_type("dgx-h100")), 2)
    with pytest.raises(InputError, match="0 nodes"):
        bound("all_reduce", shape_of(load_node_type("dgx-h100")), 0)


@given(
    st.sampled_from(OPERATIONS),
    st.integers(1, 2000),
    st.booleans(),
    st.sampled_from([None, 100, 200, 400, 800]),
)
@settings(max_examples=100)
def test_expected_never_passes_the_limit(operation: str, nodes: int, sharp: bool, rate: int | None) -> None:
    for kind in ("dgx-h100", "dgx-a100-80gb", "gb200-nvl72-tray", "l40s-4gpu", "gh200-single"):
        fabric = Fabric(kind="roce", rate_gbps=rate, rails=4) if rate else None
        found = bound(operation, shape_of(load_node_type(kind), fabric, sharp), nodes)
        if found.limit is not None and found.expected is not None:
            assert 0 < found.expected <= found.limit
