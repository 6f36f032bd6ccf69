"""Topologies that hosts do not fill or that a release would refuse: the exact words of each fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from slurmwright.model.cluster import Cluster

TEXT = """\
name: racks
slurm: {slurm}
control: {{controllers: [ctl1]}}
nodes:
  - {{hosts: "gpu[1-{hosts}]", type: {type}{racks}}}
topology: {topology}
partitions: [{{name: train, nodes: all, default: true}}]
"""
RACKS = ", racks: {size: 2}"


def text(
    topology: str,
    release: str = "26.05",
    hosts: int = 4,
    racks: str = RACKS,
    type: str = "dgx-h100",  # noqa: A002 - the word of cluster.yaml
    slurm: str = "",
) -> str:
    return TEXT.format(
        slurm=f'{{release: "{release}"{slurm}}}', hosts=hosts, racks=racks, type=type, topology=topology
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (text("block", "23.02"), "6:11: block topology came with Slurm 23.11"),
        (text("block", "22.05", slurm=", imex: true"), "switch/nvidia_imex came with Slurm 24.05"),
        (text("tree", racks=""), "gpu[1-4] would be in no leaf switch"),
        (text("block", racks=""), "gpu[1-4] would be in no block"),
        (text("block", "24.11", hosts=5), "block block3 holds 1 hosts, fewer than the base size 2"),
        (text("block", "24.11", hosts=5), "{base: 1}"),
        (text("block", "23.11", hosts=5), "{size: ...} that divides 1 and 2"),
        (text("{kind: block, size: 3}", hosts=6), "racks of 2 hosts and blocks of 3 do not fit each other"),
        (text("{kind: block, base: 3}"), "base is 3, but blocks hold 2 hosts"),
        (
            text("{kind: block, base: 1}", "23.11"),
            "base is the first of BlockSizes, which came with Slurm 24.05",
        ),
        (text("{kind: tree, base: 2}"), "base belongs to kind: block"),
        (text("{kind: block, levels: [3]}", hosts=6), "levels holds 3; blocks are joined in powers of two"),
        (text("{kind: block, levels: [2]}", hosts=6), "levels join 2 blocks and there are 3"),
        (text("{kind: tree, levels: [1]}"), "levels holds 1; one level joins at least 2"),
        (text("{kind: flat, size: 4}"), "a flat topology has no size"),
        (text("{kind: tree, format: yaml}", "24.11"), "topology.yaml came with Slurm 25.05"),
        (text("{kind: tree, format: yaml}", "25.05"), "release: 25.05.2 or later"),
        (text("star"), "tree"),
        (text("[tree]"), "topology"),
        (text("{}"), "kind is missing"),
    ],
)
def test_what_does_not_fit_is_named(given: str, said: str, faults_of: Callable[[str], list[str]]) -> None:
    lines = faults_of(given)
    assert any(said in line for line in lines), lines


@pytest.mark.parametrize(
    "given",
    [
        text("tree", "22.05"),
        text("flat", racks=""),
        text("{kind: flat, format: yaml}", racks=""),
        text("block", "23.11"),
        text("block", "25.05", hosts=5),
        text("{kind: block, base: 1}", "24.11", hosts=5),
        text("{kind: tree, format: yaml}", "25.05.2"),
        text("{kind: tree, size: 3}", racks=""),
        text("block", "24.11", hosts=36, racks="", type="gb200-nvl72-tray", slurm=", imex: true"),
    ],
)
def test_what_fits_is_taken(given: str, load: Callable[[str], Cluster]) -> None:
    assert load(given).topology is not None


def test_the_plugin_cannot_be_overridden(faults_of: Callable[[str], list[str]]) -> None:
    lines = faults_of(text("tree") + "overrides: {slurm.conf: {TopologyPlugin: topology/tree}}\n")
    assert ["change topology" in line for line in lines] == [True]
