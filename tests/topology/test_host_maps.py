"""hwloc exports beside the inventory become the maps of its hosts, and beat facts where both speak."""

from __future__ import annotations

from pathlib import Path

import pytest

from slurmwright.core.errors import InputError
from slurmwright.model.facts import HostFacts, load_facts
from slurmwright.topology.host_maps import facts_of, load_maps
from slurmwright.topology.hwloc_map import read_map

EXPORT = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x000000ff" nodeset="0x3" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x00000033" nodeset="0x1" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x00000033" nodeset="0x1" gp_index="3"/>
      <object type="PCIDev" gp_index="4" pci_busid="0000:1b:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1"/>
    </object>
    <object type="Package" os_index="1" cpuset="0x000000cc" nodeset="0x2" gp_index="5">
      <object type="NUMANode" os_index="1" cpuset="0x000000cc" nodeset="0x2" gp_index="6"/>
      <object type="PCIDev" gp_index="7" pci_busid="0000:8b:00.0" pci_type="0302 [10de:2330] [10de:16c1] a1"/>
    </object>
  </object>
</topology>
"""
FACTS = """\
format: slurmwright/facts/1
host: gpu1
cpu: {threads_per_core: 1, numa: [{id: 0, socket: 0, cpus: "0-3"}]}
gpus:
  - {pci: "0000:1B:00.0", minor: 1, numa: 0}
  - {pci: "0000:8B:00.0", minor: 0, numa: 0}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts/gpu1.hwloc.xml").write_text(EXPORT, encoding="utf-8")
    return tmp_path


def test_a_map_lies_beside_the_facts_of_its_host(folder: Path) -> None:
    found = load_maps(folder, ["gpu1", "gpu2"], {})
    assert list(found) == ["gpu1"]
    assert [node.cpu_list for node in found["gpu1"].layout.nodes] == ["0-1,4-5", "2-3,6-7"]


def test_an_inventory_without_maps_has_none(tmp_path: Path) -> None:
    assert load_maps(tmp_path, ["gpu1"], {}) == {}


def test_facts_and_maps_do_not_disturb_each_other(folder: Path) -> None:
    (folder / "facts/gpu1.yaml").write_text(FACTS, encoding="utf-8")
    assert list(load_facts(folder)) == ["gpu1"]


def test_the_map_of_an_unknown_host_is_refused(folder: Path) -> None:
    with pytest.raises(InputError, match=r"gpu1\.hwloc\.xml: 'gpu1' is no node of this cluster.*'gpu01'\?"):
        load_maps(folder, ["gpu01"], {})


def test_a_file_that_is_no_text_is_refused(folder: Path) -> None:
    (folder / "facts/gpu2.hwloc.xml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"gpu2\.hwloc\.xml: is not UTF-8"):
        load_maps(folder, ["gpu1", "gpu2"], {})


def test_cpus_and_numa_nodes_come_from_the_map_and_device_numbers_from_facts(folder: Path) -> None:
    (folder / "facts/gpu1.yaml").write_text(FACTS, encoding="utf-8")
    facts = facts_of("gpu1", load_facts(folder)["gpu1"], read_map(EXPORT, "x.xml"))
    assert facts.cpu is not None
    assert facts.cpu.threads_per_core == 2
    assert [(node.id, node.socket, node.cpus) for node in facts.cpu.numa] == [
        (0, 0, "0-1,4-5"),
        (1, 1, "2-3,6-7"),
    ]
    assert facts.gpus is not None
    assert [(gpu.minor, gpu.numa) for gpu in facts.gpus] == [(1, 0), (0, 1)]


def test_without_facts_gpus_are_counted_by_address() -> None:
    facts: HostFacts = facts_of("gpu1", None, read_map(EXPORT, "x.xml"))
    assert facts.gpus is not None
    assert [(gpu.pci, gpu.minor) for gpu in facts.gpus] == [("0000:1b:00.0", 0), ("0000:8b:00.0", 1)]
