"""A node type as a person sees it."""

from __future__ import annotations

import io

import pytest
from rich.console import Console, RenderableType

from slurmwright.catalogue.node_types import load_node_type, node_type_names
from slurmwright.report.types_view import draw_type, draw_types, types_table


def text(renderable: RenderableType) -> str:
    out = io.StringIO()
    Console(file=out, width=1000, color_system=None, highlight=False).print(renderable)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def test_gpus_stand_below_their_numa_node_with_pci_bus_and_nics() -> None:
    drawn = text(draw_type(load_node_type("dgx-h100")))
    lines = [line.strip(" │├└─") for line in drawn.splitlines()]
    start = lines.index("NUMA node 1: cores 56-111, OS CPUs 56-111,168-223")
    assert lines[start - 1] == "socket 1"
    assert lines[start + 1 : start + 3] == [
        "GPU 4: PCI 0000:9d:00.0",
        "NIC mlx5_6: PCI 0000:9a:00.0, ibp154s0, compute, 400 Gbit/s, OSFP1P2",
    ]


def test_unknown_facts_are_shown_as_unknown() -> None:
    drawn = text(draw_type(load_node_type("aws-p6e-gb200")))
    assert "sockets, NUMA nodes and cores: unknown" in drawn
    assert "4 GPUs, NUMA node and PCI id of each: unknown" in drawn
    assert "nominal unknown, RealMemory seen unknown" in drawn
    assert "None" not in drawn


def test_gpus_of_a_machine_without_layout_are_still_drawn() -> None:
    drawn = text(draw_type(load_node_type("digitalocean-h100-8")))
    assert "GPU 4: PCI 0000:05:01.0 on NUMA node 1" in drawn


@pytest.mark.parametrize("name", node_type_names())
def test_a_drawing_holds_every_gpu_nic_source_and_doubt(name: str) -> None:
    kind = load_node_type(name)
    drawn = text(draw_type(kind))
    for gpu in kind.gpus:
        assert f"GPU {gpu.index}: " in drawn
    for nic in kind.network.devices:
        assert f"NIC {nic.name}" in drawn
    for line in (*kind.source, *kind.unsure):
        assert line in drawn


def test_the_table_has_a_row_for_each_type_and_marks_amd() -> None:
    lines = text(draw_types(types_table(["dgx-h100", "mi300x-8gpu", "nebius-b200"]))).splitlines()
    assert len(lines) == 2 + 3
    assert "8x h100" in lines[2]
    assert "2 x 56 x 2" in lines[2]
    assert "(not rendered)" in lines[3]
    assert "2 x unknown x unknown" in lines[4]
