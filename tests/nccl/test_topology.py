"""Topologies of the catalogue's types: files that every NCCL takes, ways that agree with real machines."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.nccl_versions import NcclVersion, topology_facts
from slurmwright.catalogue.node_types import load_node_type, node_type_names
from slurmwright.core.errors import InputError
from slurmwright.nccl.check import check_topology
from slurmwright.nccl.topology import TypeTopology, topology_of
from slurmwright.report.nccl_view import topology_json, topology_svg
from slurmwright.topology.nccl_judge import judge_topology
from slurmwright.topology.nccl_masks import cpus_mask, mask_cpus
from slurmwright.topology.nccl_tree import pci_of_name

TYPES = {name: topology_of(load_node_type(name)) for name in node_type_names()}
KNOWN = sorted(name for name, one in TYPES.items() if one.skeleton)


def test_every_type_has_a_topology_or_says_what_is_missing() -> None:
    assert [name for name, one in TYPES.items() if (one.skeleton is None) != bool(one.missing)] == []
    assert {"dgx-a100-80gb", "dgx-b200", "dgx-h100", "dgx-h200", "azure-standard_nd96isr_h100_v5"} <= set(
        KNOWN
    )


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("version", topology_facts()["tried"])
def test_the_file_of_a_type_is_taken_by_every_version_without_a_word(name: str, version: str) -> None:
    kind = load_node_type(name)
    judged = check_topology(TYPES[name].xml.encode(), name, NcclVersion.parse(version), kind)
    assert (judged.refused, judged.findings) == (False, ())


@pytest.mark.parametrize("name", KNOWN)
def test_the_file_is_a_skeleton_in_the_narrow_form(name: str) -> None:
    text = TYPES[name].xml
    assert {element.tag for element in ET.fromstring(text).iter()}  # noqa: S314 - our own == {"system", "cpu", "pci"}
    assert "\t" not in text
    assert "<?" not in text
    assert "'" not in text.partition("\n")[2]


def test_a_type_whose_devices_are_not_known_is_refused_with_what_is_missing() -> None:
    with pytest.raises(InputError, match="pci of GPU 0, 1, 2, 3, 4, 5, 6, 7 is not known"):
        _ = TYPES["dgx-b300"].xml


def test_a_file_of_another_node_is_told() -> None:
    text = TYPES["dgx-h100"].xml.replace('numaid="0"', 'numaid="2"')
    found = check_topology(text.encode(), "x", NcclVersion(2, 30, 7), load_node_type("dgx-h100")).findings
    assert {one.rule for one in found} == {"NC029"}
    assert any(
        "GPU0 (0000:1b:00.0) stands below numaid 2; it is on NUMA node 0" in one.message for one in found
    )
    empty = check_topology(b'<system version="1"/>', "x", NcclVersion(2, 30, 7), load_node_type("dgx-h100"))
    assert sum("is not in the file" in one.message for one in empty.findings) == 16


#: What `nvidia-smi topo -m` and NCCL call the same distance. NODE is a way inside a NUMA node through its
#: host bridges, which NCCL counts as through the CPU.
SAME = {"PIX": "PIX", "PXB": "PXB", "PHB": "PHB", "NODE": "PHB", "SYS": "SYS"}
#: Recordings by type. Every cell of a GPU and another GPU, or a compute NIC, agrees; of the XE9680, recorded
#: inside a job, only NVLink: there nvidia-smi says NODE between sockets, and its cards are others.
RECORDED = {
    "dgx-a100-40gb": "topo-m/11-dgx-a100-nps4-8gpu-10nic-no-gpu-numa-id.txt",
    "dgx-a100-80gb": "nodes/dgx-a100.topo-m.txt",
    "dgx-b200": "nodes/dgx-b200.topo-m.tabs-restored.txt",
    "dgx-h100": "nodes/dgx-h100.topo-m.truncated.txt",
    "hgx-h100-8gpu-dell-xe9680": "nodes/hgx-h100-dell-evenodd.topo-m.incgroup.txt",
}


def cells(name: str, path: Path) -> dict[tuple[str, str], tuple[str, str]]:
    """(nvidia-smi's word, NCCL's class) for each GPU and each other GPU or compute NIC. A NIC without a
    legend is the device of its number, as ibdev2netdev lists them on DGX H100."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", path.read_text(encoding="utf-8"))
    legend = dict(re.findall(r"^\s*(NIC\d+): (\S+)", text, re.M))
    lines = [line.split("\t") for line in text.split("\n")]
    header = next(line for line in lines if "GPU0" in line)
    one, found = TYPES[name], {}
    known = [device for device, _, _ in one.devices]
    for row in lines:
        if not re.fullmatch(r"GPU\d+", row[0]):
            continue
        for column, word in zip(header[1:], row[1:], strict=False):
            device = legend.get(column, column.replace("NIC", "mlx5_"))
            way = one.way(row[0], device) if device in known and device != row[0] else None
            if way is not None:
                found[row[0], device] = (word.strip(), way.kind)
    return found


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_ways_agree_with_what_the_machine_shows(name: str, field_data: Path) -> None:
    found = cells(name, field_data / "captures" / RECORDED[name])
    in_a_job = "incgroup" in RECORDED[name]
    if in_a_job:
        found = {pair: words for pair, words in found.items() if pair[1].startswith("GPU")}
    wrong = {
        pair: (word, kind)
        for pair, (word, kind) in found.items()
        if ("NVL" if word.startswith("NV") else SAME[word]) != kind
    }
    assert wrong == {}
    assert len(found) == 8 * 7 + (0 if in_a_job else 8 * 8)


def test_bandwidths_are_those_that_nccl_counts() -> None:
    ways = {name: TYPES[name].way("GPU0", "GPU1") for name in ("dgx-a100-80gb", "dgx-h100", "dgx-b200")}
    assert [way.bandwidth for way in ways.values() if way] == [240.0, 370.8, 721.8]
    own, far = (TYPES["dgx-h100"].way("GPU0", nic) for nic in ("mlx5_0", "mlx5_6"))
    assert own
    assert far
    assert (own.bandwidth, far.bandwidth) == (48.0, 22.0)


def test_the_document_and_the_picture_hold_every_way() -> None:
    types = [TYPES["dgx-a100-80gb"], TYPES["dgx-b300"]]
    first, second = topology_json(types)["types"]
    assert len(first["ways"]) == 8 * 7 + 8 * 8
    assert (second["tree"], second["ways"]) == (None, [])
    assert second["missing"]
    picture = ET.fromstring(topology_svg(types))  # noqa: S314 - our own
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert texts.count("NVL 240") == 56
    assert "missing: pci of GPU 0, 1, 2, 3, 4, 5, 6, 7" in texts


def test_pairs_that_are_bridged_have_nvlink_and_others_have_not() -> None:
    one: TypeTopology = TYPES["a100-pcie-4gpu"]
    kinds = {other: way.kind for other in ("GPU1", "GPU2") if (way := one.way("GPU0", other))}
    assert kinds == {"GPU1": "NVL", "GPU2": "SYS"}


@given(st.sets(st.integers(0, 511), min_size=1))
@settings(max_examples=50, deadline=None)
def test_a_mask_names_the_cpus_that_it_was_made_of(cpus: set[int]) -> None:
    text = cpus_mask(cpus, 256)
    assert mask_cpus(text) == cpus
    assert {len(word) for word in text.split(",")} == {8}


@pytest.mark.parametrize(
    ("name", "pci"),
    [
        ("rdmap16s27", "0000:10:1b.0"),
        ("rocep26s0f1", "0000:1a:00.1"),
        ("roceP2p1s0f0", "0002:01:00.0"),
        ("mlx5_0", None),
        ("mlx5_bond_0", None),
    ],
)
def test_names_that_hold_a_bus_id_tell_it(name: str, pci: str | None) -> None:
    assert pci_of_name(name) == pci


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("aws-p4d.24xlarge", "aws-p4d-24xl-topo.xml"),
        ("azure-standard_nd96isr_h100_v5", "superbench-ndv5-topo.xml"),
        ("azure-standard_nd96asr_v4", "azure-ndv4-topo.xml"),
    ],
)
def test_the_file_of_a_cloud_type_puts_devices_where_the_published_one_does(
    name: str, file: str, field_data: Path
) -> None:
    theirs = (field_data / "captures" / "topo-xml" / file).read_bytes()
    assert check_topology(theirs, file, NcclVersion(2, 30, 7), load_node_type(name)).findings == ()
    assert places(TYPES[name].xml.encode()) == places(theirs)


def places(data: bytes) -> set[tuple[str | None, frozenset[str | None]]]:
    """Which devices stand together below which NUMA node."""
    system = judge_topology(data, NcclVersion(2, 30, 7)).system
    assert system is not None
    return {
        (cpu.get("numaid"), frozenset(leaf.get("busid") for leaf in switch.children))
        for cpu in system.children
        for switch in cpu.children
    }
