"""RealMemory: below what slurmd finds, on every host, and marked where nobody has read it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import Memory, NodeType
from slurmwright.model.facts import HostFacts, MemoryFact
from slurmwright.render.memory import RealMemory, group_memory, memory_known, said_memory


def kind(**memory: int) -> NodeType:
    return NodeType(name="t", memory=Memory(**memory))


def read(**sizes: int) -> dict[str, HostFacts]:
    return {
        host: HostFacts(format="slurmwright/facts/1", host=host, memory=MemoryFact(real_memory_mb=mb))
        for host, mb in sizes.items()
    }


@pytest.mark.parametrize(
    ("known", "written"),
    [
        ({"real_memory_mb": 2063425}, RealMemory(2022000, False)),
        ({"real_memory_mb": 2063425, "nominal_gib": 2048}, RealMemory(2022000, False)),
        ({"nominal_gib": 2048}, RealMemory(1992000, True)),
        ({"real_memory_mb": 1635214, "cpu_memory_mb": 979783}, RealMemory(960000, False)),
        ({"nominal_gib": 960, "cpu_memory_mb": 979783}, RealMemory(960000, False)),
        ({"real_memory_mb": 7900}, RealMemory(7700, False)),
    ],
)
def test_what_a_type_alone_gives(known: dict[str, int], written: RealMemory) -> None:
    assert group_memory(kind(**known), ["a"], {}) == {"a": written}


def test_nothing_known_is_said_to_be_nothing() -> None:
    assert not memory_known(kind(), [])
    assert memory_known(kind(), read(a=1000).values())
    with pytest.raises(ValueError, match="nothing is known of the memory of t"):
        group_memory(kind(), ["a"], {})


def test_hosts_that_hardly_differ_share_the_least_of_them() -> None:
    found = group_memory(kind(nominal_gib=1), ["a", "b", "c"], read(a=2064153, b=2047961, c=2061780))
    assert set(found.values()) == {RealMemory(2007000, False)}


def test_a_host_that_lost_a_dimm_does_not_take_its_group_down() -> None:
    found = group_memory(kind(), ["a", "b", "c", "new"], read(a=2063000, b=1031000, c=2063000))
    assert {host: memory.mb for host, memory in found.items()} == {
        "a": 2021000,
        "b": 1010000,
        "c": 2021000,
        "new": 2021000,
    }


def test_between_two_equal_halves_an_unread_host_gets_the_lower() -> None:
    found = group_memory(kind(real_memory_mb=900000), ["a", "b", "new"], read(a=2063000, b=1031000))
    assert found["new"].mb == 1010000


def test_on_grace_the_memory_of_the_gpus_is_left_out_of_what_was_read() -> None:
    found = group_memory(kind(cpu_memory_mb=979783), ["a"], read(a=1635214))
    assert found["a"].mb == 960000


def test_what_cluster_yaml_says_of_a_host_gets_the_same_margin() -> None:
    assert said_memory(64000) == RealMemory(62000, False)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1000, 3_000_000), min_size=1))
def test_no_host_is_promised_more_than_it_has_or_loses_more_than_a_sliver(sizes: dict[str, int]) -> None:
    found = group_memory(kind(), list(sizes), read(**sizes))
    for host, size in sizes.items():
        assert found[host].mb < size
        assert found[host].mb > size * 0.98 * 0.98 - 1001
