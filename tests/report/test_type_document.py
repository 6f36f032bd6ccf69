"""The JSON document of a node type: its facts and what follows from them."""

from __future__ import annotations

import json

import pytest

from slurmwright.catalogue.node_types import load_node_type, node_type_names
from slurmwright.report.type_document import type_json, types_table


def test_numa_nodes_carry_logical_cores_and_os_cpus_of_the_layout() -> None:
    document = type_json(load_node_type("dgx-a100-80gb"))
    assert document["numa"][3] == {
        "numa": 3,
        "socket": 0,
        "cores": "48-63",
        "cpus": "48-63,176-191",
        "gpus": [0, 1],
        "other_nics": [],
    }


def test_alternating_cpu_numbers_leave_the_core_indexes_alone() -> None:
    document = type_json(load_node_type("hgx-h100-8gpu-dell-xe9680"))
    assert [(node["cores"], node["cpus"]) for node in document["numa"]] == [
        ("0-55", "0-222:2"),
        ("56-111", "1-223:2"),
    ]


@pytest.mark.parametrize(
    ("name", "view"),
    [
        ("dgx-h100", (2, 56, 2, False)),
        ("dgx-a100-40gb", (8, 16, 2, True)),
        ("gh200-quad", (4, 72, 1, False)),
        ("oci-bm.gpu4.8", (8, 8, None, True)),
    ],
)
def test_slurm_view_takes_numa_nodes_for_sockets_where_packages_hold_several(
    name: str, view: tuple[int, int, int | None, bool]
) -> None:
    slurm = type_json(load_node_type(name))["slurm"]
    assert tuple(slurm.values()) == view


def test_os_cpus_stay_unknown_while_smt_is_but_core_ranges_do_not() -> None:
    node = type_json(load_node_type("oci-bm.gpu4.8"))["numa"][1]
    assert (node["cores"], node["cpus"]) == ("8-15", None)


def test_what_is_not_known_is_named() -> None:
    document = type_json(load_node_type("aws-p6e-gb200"))
    assert document["slurm"] is None
    assert document["numa"] == []
    assert {"cpu.sockets", "gpus.numa", "gpus.pci", "memory.real_memory_mb"} <= set(document["unknown"])


def test_amd_types_are_listed_as_not_rendered_and_no_others() -> None:
    refused = [row["name"] for row in types_table(node_type_names()) if not row["rendered"]]
    assert refused == [name for name in node_type_names() if "mi300x" in name]
    assert type_json(load_node_type("mi300x-8gpu"))["why_not_rendered"] == "AMD GPUs are listed, not rendered"


@pytest.mark.parametrize("name", node_type_names())
def test_the_document_is_json_and_places_every_gpu_once(name: str) -> None:
    document = json.loads(json.dumps(type_json(load_node_type(name))))
    placed = [index for node in document["numa"] for index in node["gpus"]]
    assert len(placed) == len(set(placed))
    if document["numa"]:
        assert sorted(placed) == [gpu["index"] for gpu in document["gpus"]]
