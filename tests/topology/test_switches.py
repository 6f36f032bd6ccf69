"""Trees and blocks: every host in exactly one unit, one root, and sizes that Slurm takes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.model.cluster import Cluster
from slurmwright.model.load import cluster_from
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.topology.switches import Tree, blocks_of, doublings, nvlink_domains, tree_of

TEXT = """\
name: racks
slurm: {{release: "{release}"}}
control: {{controllers: [ctl1]}}
nodes:
{groups}
topology: {topology}
partitions: [{{name: train, nodes: all, default: true}}]
"""


def cluster(groups: list[str], topology: str, release: str = "26.05") -> Cluster:
    lines = "\n".join(f"  - {{{group}}}" for group in groups)
    text = TEXT.format(release=release, groups=lines, topology=topology)
    return cluster_from(parse_yaml(text, "cluster.yaml"))


def tree(groups: list[str], topology: str = "tree") -> Tree:
    loaded = cluster(groups, topology)
    assert loaded.topology is not None
    return tree_of(loaded, loaded.topology)


def test_each_rack_is_a_leaf_and_one_switch_joins_them() -> None:
    found = tree(['hosts: "gpu[1-5]", type: dgx-h100, racks: {size: 2, names: "r[1-3]"}'])
    assert [(leaf.name, leaf.hosts) for leaf in found.leaves] == [
        ("r1", ("gpu1", "gpu2")),
        ("r2", ("gpu3", "gpu4")),
        ("r3", ("gpu5",)),
    ]
    assert [(switch.name, switch.children) for switch in found.upper] == [("top", ("r1", "r2", "r3"))]


def test_one_rack_needs_no_switch_above() -> None:
    assert tree(['hosts: "gpu[1-4]", type: dgx-h100, racks: {size: 4}']).upper == ()


def test_a_scalable_unit_takes_the_place_of_racks() -> None:
    found = tree(
        ['hosts: "gpu[1-8]", type: dgx-h100, racks: {size: 2, names: "r[1-4]"}'], "{kind: tree, size: 4}"
    )
    assert [(leaf.name, len(leaf.hosts)) for leaf in found.leaves] == [("leaf1", 4), ("leaf2", 4)]


def test_levels_stand_above_each_other() -> None:
    found = tree(['hosts: "gpu[1-9]", type: dgx-h100, racks: {size: 1}'], "{kind: tree, levels: [2, 3]}")
    assert [switch.name for switch in found.upper] == [
        *(f"spine{n}" for n in range(1, 6)),
        "core1",
        "core2",
        "top",
    ]
    assert found.upper[-2].children == ("spine4", "spine5")


def test_a_rack_that_two_groups_name_is_one_leaf() -> None:
    found = tree(
        [
            'hosts: "gpu[1-2]", type: dgx-h100, racks: {size: 2, names: r1}',
            'hosts: "a[1-2]", type: dgx-a100-80gb, racks: {size: 2, names: r1}',
        ]
    )
    assert [leaf.hosts for leaf in found.leaves] == [("gpu1", "gpu2", "a1", "a2")]


def test_a_made_up_name_is_never_that_of_a_rack() -> None:
    found = tree(
        [
            'hosts: "gpu[1-2]", type: dgx-h100, racks: {size: 1, names: "leaf1,top"}',
            "hosts: cpu1, type: dgx-h100, racks: {size: 1}",
        ]
    )
    assert [leaf.name for leaf in found.leaves] == ["leaf1", "top", "leaf2"]
    assert found.upper[-1].name == "top1"


def test_nvl72_racks_are_blocks_of_eighteen() -> None:
    loaded = cluster(['hosts: "t[1-36]", type: gb200-nvl72-tray'], "block")
    assert loaded.topology is not None
    found = blocks_of(loaded, loaded.topology)
    assert [(block.name, len(block.hosts)) for block in found.blocks] == [("block1", 18), ("block2", 18)]
    assert found.sizes == (18,)


@pytest.mark.parametrize(
    ("topology", "sizes"),
    [
        ("{kind: block, base: 16}", (16,)),
        ("{kind: block, size: 9}", (9,)),
        ("{kind: block, size: 9, levels: [2, 2]}", (9, 18, 36)),
    ],
)
def test_block_sizes_follow_base_and_levels(topology: str, sizes: tuple[int, ...]) -> None:
    loaded = cluster(['hosts: "t[1-36]", type: gb200-nvl72-tray'], topology)
    assert loaded.topology is not None
    assert blocks_of(loaded, loaded.topology).sizes == sizes


def test_levels_are_counted_in_doublings() -> None:
    assert doublings((2, 4)) == (0, 1, 3)


def test_nvlink_domains_are_there_without_any_topology_and_only_for_types_that_have_them() -> None:
    groups = ['hosts: "t[1-20]", type: gb200-nvl72-tray', 'hosts: "gpu[1-2]", type: dgx-h100']
    assert [len(domain.hosts) for domain in nvlink_domains(cluster(groups, "flat"))] == [18, 2]


GROUPS = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9)), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(GROUPS, st.lists(st.integers(2, 8), max_size=3), st.sampled_from([None, 1, 3, 8]))
def test_a_tree_holds_every_host_once_below_one_root(
    groups: list[tuple[int, int]], levels: list[int], size: int | None
) -> None:
    words = f"{{kind: tree, levels: {levels}" + (f", size: {size}}}" if size else "}")
    lines = [
        f'hosts: "g{at}-[1-{hosts}]", type: dgx-h100, racks: {{size: {rack}}}'
        for at, (hosts, rack) in enumerate(groups)
    ]
    found = tree(lines, words)
    below = [host for leaf in found.leaves for host in leaf.hosts]
    every = [f"g{at}-{n}" for at, (hosts, _) in enumerate(groups) for n in range(1, hosts + 1)]
    assert sorted(below) == sorted(every)
    names = [leaf.name for leaf in found.leaves] + [switch.name for switch in found.upper]
    assert len(set(names)) == len(names)
    children = [child for switch in found.upper for child in switch.children]
    assert sorted(set(names) - set(children)) == names[-1:]
    assert len(set(children)) == len(children)
    for at, switch in enumerate(found.upper):
        assert set(switch.children) <= set(names[: len(found.leaves) + at])


@settings(max_examples=60, deadline=None)
@given(GROUPS, st.lists(st.sampled_from([2, 4, 8]), max_size=3))
def test_blocks_hold_every_host_once_and_sizes_are_the_base_times_powers_of_two(
    groups: list[tuple[int, int]], levels: list[int]
) -> None:
    lines = [
        f'hosts: "g{at}-[1-{racks * size}]", type: dgx-h100, racks: {{size: {size}}}'
        for at, (racks, size) in enumerate(groups)
    ]
    joined = 1
    for level in levels:
        joined *= level
    total = sum(racks for racks, _ in groups)
    if total % joined:
        levels = []
    loaded = cluster(lines, f"{{kind: block, levels: {levels}}}", "24.11")
    assert loaded.topology is not None
    found = blocks_of(loaded, loaded.topology)
    hosts = [host for block in found.blocks for host in block.hosts]
    assert len(set(hosts)) == len(hosts) == sum(racks * size for racks, size in groups)
    assert all(len(block.hosts) >= found.base for block in found.blocks)
    assert found.sizes[0] == found.base
    for size in found.sizes:
        assert size % found.base == 0
        assert (size // found.base).bit_count() == 1
