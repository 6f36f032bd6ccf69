"""Node types to guests: how many cores, which switches."""

import pytest

from slurmwright.catalogue.node_types import load_node_type, node_type_names
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machines.shape import Branch, Shape, branches_of, shape_of
from slurmwright.topology.cpus import layout_of


def shape(name: str) -> Shape:
    node_type = load_node_type(name)
    layout = layout_of(node_type.cpu)
    assert layout is not None
    expected = ExpectedNode(name, layout, "", (), False, None)
    return shape_of(node_type, expected, range(node_type.gpu.count))


def test_a_dgx_h100_keeps_sockets_and_threads_and_a_core_for_each_gpu() -> None:
    one = shape("dgx-h100")
    assert (one.sockets, one.numa_per_socket, one.cores, one.threads, one.cpus) == (2, 1, 4, 2, 16)


def test_a_dgx_a100_in_nps4_keeps_its_eight_numa_nodes() -> None:
    one = shape("dgx-a100-80gb")
    assert (one.sockets, one.numa, one.cores, one.threads) == (2, 8, 2, 2)


def test_each_gpu_of_a_dgx_h100_shares_a_switch_with_its_own_nic() -> None:
    first = [branch for branch in branches_of(load_node_type("dgx-h100")) if branch.gpus]
    assert len(first) == 8
    assert first[0] == Branch(0, (0,), ("mlx5_0",))
    assert first[4] == Branch(1, (4,), ("mlx5_6",))


def test_two_gpus_and_two_nics_of_a_dgx_a100_share_a_switch_on_numa_node_3() -> None:
    first = next(iter(branches_of(load_node_type("dgx-a100-80gb"))))
    assert first == Branch(3, (0, 1), ("mlx5_0", "mlx5_1"))


def test_a_nic_without_gpus_has_no_switch() -> None:
    storage = [b for b in branches_of(load_node_type("dgx-h100")) if not b.gpus]
    assert storage[0] == Branch(0, (), ("mlx5_1",))
    assert not storage[0].is_switch


def test_a_gpu_that_is_missing_has_no_stand_in_but_its_nic_stays() -> None:
    node_type = load_node_type("dgx-h100")
    layout = layout_of(node_type.cpu)
    assert layout is not None
    one = shape_of(node_type, ExpectedNode("", layout, "", (), False, None), [0, 1, 2, 3, 4, 5, 6])
    assert one.branches[7] == Branch(1, (), ("mlx5_11",))


@pytest.mark.parametrize("name", node_type_names())
def test_every_type_with_a_known_layout_has_a_guest_with_all_its_gpus(name: str) -> None:
    node_type = load_node_type(name)
    layout = layout_of(node_type.cpu)
    if layout is None:
        return
    one = shape(name)
    assert one.cpus <= layout.cpus
    assert one.numa == len(layout.nodes)
    assert sorted(gpu for b in one.branches for gpu in b.gpus) == list(range(node_type.gpu.count))
    assert all(b.numa is None or b.numa < one.numa for b in one.branches)
