"""Halving a set of nodes until the slow ones are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.nccl.search import Group, find_slow

NODES = tuple(f"gpu{at:03}" for at in range(1, 65))


class Cluster:
    """Answers as a ring does: the slowest node sets the pace."""

    def __init__(self, speeds: Mapping[str, float | None], usual: float = 380.0) -> None:
        self.speeds, self.usual, self.rounds = speeds, usual, 0

    def __call__(self, groups: Sequence[Group]) -> Mapping[Group, float | None]:
        self.rounds += 1
        used = [node for group in groups for node in group]
        assert len(used) == len(set(used)), "groups share a node"
        assert all(len(group) >= 2 for group in groups), "one node alone tests no network"
        return {group: self._speed(group) for group in groups}

    def _speed(self, group: Group) -> float | None:
        speeds = [self.speeds.get(node, self.usual) for node in group]
        return None if None in speeds else min(one for one in speeds if one is not None)


def test_one_slow_node_of_64_is_found_in_six_rounds() -> None:
    cluster = Cluster({"gpu017": 190.0})
    found = find_slow(NODES, cluster, 307)
    assert (dict(found.slow), cluster.rounds) == ({"gpu017": 190.0}, 6)


def test_a_node_that_fails_is_found_like_a_slow_one() -> None:
    assert dict(find_slow(NODES, Cluster({"gpu050": None}), 307).slow) == {"gpu050": None}


def test_nodes_that_are_all_slow_alike_are_not_accused() -> None:
    found = find_slow(NODES, Cluster({}, usual=100.0), 307)
    assert (found.slow, found.alike) == ({}, True)


def test_two_nodes_cannot_be_told_apart() -> None:
    found = find_slow(("a", "b"), Cluster({"a": 100.0}), 307)
    assert (found.slow, found.together) == ({}, (("a", "b"),))


def test_a_slow_node_in_a_cluster_that_is_slow_as_a_whole_is_found() -> None:
    found = find_slow(NODES[:8], Cluster({"gpu003": 100.0}, usual=250.0), 307)
    assert set(found.slow) == {"gpu003"}


@pytest.mark.parametrize("size", [4, 5, 6, 7, 9, 13])
def test_any_number_of_nodes_will_do(size: int) -> None:
    for node in NODES[:size]:
        assert set(find_slow(NODES[:size], Cluster({node: 100.0}), 307).slow) == {node}


@given(st.integers(8, 64), st.data())
@settings(max_examples=60)
def test_a_few_slow_nodes_are_found_and_no_other(size: int, data: st.DataObject) -> None:
    nodes = NODES[:size]
    slow = data.draw(st.sets(st.sampled_from(nodes), min_size=1, max_size=size // 4))
    found = find_slow(nodes, Cluster(dict.fromkeys(slow, 150.0)), 307)
    accused = {node for group in found.together for node in group}
    assert set(found.slow) == slow or (slow <= accused and not found.slow) or found.alike
    if len(slow) <= size // 8:
        assert set(found.slow) == slow
