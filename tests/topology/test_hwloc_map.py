"""An hwloc export becomes a host's map, with the cores that follow from its cpusets where it has none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError
from slurmwright.topology.cpus import CpuLayout
from slurmwright.topology.hwloc_map import HostMap, possible_threads, read_map
from slurmwright.topology.hwloc_text import Element, members_of, read_bitmap, read_topology, write_bitmap

layouts = st.builds(
    lambda sockets, per_numa, threads, numa, numbering: CpuLayout.regular(
        sockets, per_numa * numa, threads, numa, numbering
    ),
    st.integers(1, 4),
    st.integers(1, 9),
    st.integers(1, 4),
    st.integers(1, 4),
    st.sampled_from(["contiguous", "interleaved"]),
)


def export(layout: CpuLayout, grouped: bool = True, gpus: tuple[tuple[str, int], ...] = ()) -> str:
    """An export without cores: Machine, Packages, a Group for each of several NUMA nodes of a package."""
    lines = ['<topology version="2.0">', _open("Machine", 0, layout.nodes, 1)]
    for socket in range(layout.sockets):
        nodes = [node for node in layout.nodes if node.socket == socket]
        lines.append(_open("Package", socket, nodes, 10 + socket))
        for node in nodes:
            own = grouped and len(nodes) > 1
            lines += [_open("Group", node.id, [node], 20 + node.id)] if own else []
            lines += [_open("NUMANode", node.id, [node], 50 + node.id), "</object>"]
            for pci, numa in gpus:
                if numa == node.id:
                    what = f'pci_busid="{pci}" pci_type="0302 [10de:2330] [10de:16c1] a1"'
                    lines.append(f'<object type="PCIDev" gp_index="{len(lines) + 100}" {what}/>')
            lines += ["</object>"] if own else []
        lines.append("</object>")
    return "\n".join([*lines, "</object>", "</topology>"])


def _open(kind: str, number: int, nodes: object, index: int) -> str:
    cpus = write_bitmap(cpu for node in nodes for core in node.cores for cpu in core)  # type: ignore[attr-defined]
    numa = write_bitmap(node.id for node in nodes)  # type: ignore[attr-defined]
    sets = f'cpuset="{cpus}" complete_cpuset="{cpus}" nodeset="{numa}" complete_nodeset="{numa}"'
    return f'<object type="{kind}" os_index="{number}" {sets} gp_index="{index}">'


def objects(xml: str) -> list[tuple[Element, Element]]:
    """(object, the one above it), from the top."""

    def below(element: Element) -> Iterator[tuple[Element, Element]]:
        for part in element.objects():
            yield part, element
            yield from below(part)

    return list(below(read_topology(xml, "x.xml")))


def cpus_of(element: Element) -> tuple[int, ...]:
    return members_of(read_bitmap(element.attributes["cpuset"]))


@settings(max_examples=40, deadline=None)
@given(layouts, st.booleans())
def test_completing_keeps_packages_and_numa_nodes_and_gives_each_cpu_once(
    layout: CpuLayout, grouped: bool
) -> None:
    text = export(layout, grouped)
    found = read_map(text, "x.xml", layout.threads)
    before = [one.attributes for one, _ in objects(text)]
    whole = objects(found.xml)
    assert [one.attributes for one, _ in whole if one.type not in ("Core", "PU")] == before
    pus = [cpus_of(one) for one, _ in whole if one.type == "PU"]
    assert sorted(pus) == [(cpu,) for cpu in range(layout.cpus)]
    cores = [cpus_of(one) for one, _ in whole if one.type == "Core"]
    assert sorted(cores) == sorted(tuple(sorted(core)) for node in layout.nodes for core in node.cores)
    indexes = [one.attributes["gp_index"] for one, _ in whole]
    assert len(set(indexes)) == len(indexes)
    assert found.layout == layout


@settings(max_examples=20, deadline=None)
@given(layouts, st.booleans())
def test_every_core_is_in_its_package_and_every_pu_in_its_core(layout: CpuLayout, grouped: bool) -> None:
    for one, above in objects(read_map(export(layout, grouped), "x.xml", layout.threads).xml):
        if one.type in ("Core", "PU"):
            assert set(cpus_of(one)) <= set(cpus_of(above))
            assert above.type == ("Core" if one.type == "PU" else above.type)
            assert above.type in ("Package", "Group", "Core")


@settings(max_examples=40, deadline=None)
@given(layouts)
def test_what_the_cpusets_allow_holds_the_truth(layout: CpuLayout) -> None:
    nodes = [sorted(cpu for core in node.cores for cpu in core) for node in layout.nodes]
    assert layout.threads in possible_threads(nodes, layout.sockets)


@given(st.sets(st.integers(0, 300)))
def test_bitmaps_round_trip(members: set[int]) -> None:
    assert members_of(read_bitmap(write_bitmap(members))) == tuple(sorted(members))


def test_an_empty_word_of_a_bitmap_is_zero() -> None:
    assert members_of(read_bitmap("0x1,,0x3")) == (0, 1, 64)


@pytest.mark.parametrize(
    ("lists", "packages", "threads"),
    [
        (["0-47,96-143", "48-95,144-191"], 2, (2,)),
        (["0-23", "24-47"], 2, (1,)),
        (["0-103:2", "1-103:2"], 2, (1, 2, 4)),
        (["0-15"], 1, (1, 2, 4, 8)),
        (["0-15,64-79", "16-31,80-95", "32-47,96-111", "48-63,112-127"], 2, (2,)),
        (["0-2,5", "3-4,6-7"], 2, ()),
    ],
)
def test_threads_follow_from_cpusets_where_only_one_number_fits(
    lists: list[str], packages: int, threads: tuple[int, ...]
) -> None:
    assert possible_threads([parse_cpus(text) for text in lists], packages) == threads


def test_cpusets_that_fit_several_numbers_of_threads_are_not_guessed() -> None:
    with pytest.raises(
        InputError, match=r"fit 1, 2, 4, 8 threads per core .*NUMA node 0: 0-14:2.*give cpu\.thr"
    ):
        read_map(export(CpuLayout.regular(2, 4, 2, 1, "interleaved")), "x.xml")


def test_a_whole_export_is_taken_as_it_is() -> None:
    layout = CpuLayout.regular(2, 4, 2, 1, "interleaved")
    whole = read_map(export(layout), "x.xml", 2).xml
    again = read_map(whole, "x.xml")
    assert (again.added, again.threads, again.layout, again.xml) == (False, 2, layout, whole)


def test_cores_that_pair_cpus_in_another_way_are_refused() -> None:
    text = read_map(export(CpuLayout.regular(1, 2, 2, 1, "contiguous")), "x.xml", 2).xml
    neighbours = text.replace('"0x00000005"', '"0x00000003"').replace('"0x0000000a"', '"0x0000000c"')
    assert neighbours != text
    with pytest.raises(InputError, match="no core holds the CPUs 0,2"):
        read_map(neighbours, "x.xml")


def test_gpus_have_the_numa_node_that_their_bridge_hangs_below() -> None:
    layout = CpuLayout.regular(2, 2, 2, 1, "contiguous")
    found = read_map(export(layout, gpus=(("0000:8b:00.0", 1), ("0000:1b:00.0", 0))), "x.xml")
    assert [(gpu.pci, gpu.numa) for gpu in found.gpus] == [("0000:1b:00.0", 0), ("0000:8b:00.0", 1)]


def test_a_gpu_below_a_package_of_two_numa_nodes_has_none() -> None:
    text = export(CpuLayout.regular(1, 4, 2, 2, "contiguous"), False, (("0000:1b:00.0", 0),))
    assert [gpu.numa for gpu in read_map(text, "x.xml", 2).gpus] == [None]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no XML"),
        ("<topology>", "is no XML"),
        ("<topology/>", "the format of hwloc 1"),
        ('<topology version="2.0"/>', "holds no Machine"),
        ('<nodes version="2.0"/>', "is <nodes>"),
        ('<!DOCTYPE a [<!ENTITY b "c">]><topology version="2.0"/>', "entity 'b'"),
        ('<topology version="2.0"><object type="Machine"/></topology>', "no Package with a NUMA node"),
        (
            '<topology version="2.0"><object type="Machine"><object type="NUMANode" os_index="0" '
            'cpuset="fun"/>'
            "</object></topology>",
            "is no set of hwloc's",
        ),
        (
            '<topology version="2.0"><object type="Machine"><object type="Package" cpuset="0x1"/>'
            "</object></topology>",
            "line 1: os_index of this Package is ''",
        ),
    ],
)
def test_what_is_no_map_is_one_clear_error(text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_map(text, "x.xml")
    assert said in str(error.value)
    assert str(error.value).startswith("x.xml")


@pytest.mark.parametrize(
    ("name", "threads", "cpus"),
    [
        ("aws-p4d.24xl", 1, ["0-23", "24-47"]),
        ("aws-p6-b200.48xl", 2, ["0-47,96-143", "48-95,144-191"]),
        ("aws-g6.48xl", 2, ["0-47,96-143", "48-95,144-191"]),
    ],
)
def test_exports_of_real_instances(field_data: Path, name: str, threads: int, cpus: list[str]) -> None:
    found = _capture(field_data, name)
    assert (found.added, found.threads) == (True, threads)
    assert [node.cpu_list for node in found.layout.nodes] == cpus
    assert [gpu.numa for gpu in found.gpus] == [0, 0, 0, 0, 1, 1, 1, 1]


def _capture(field_data: Path, name: str) -> HostMap:
    path = field_data / "captures/nodes" / f"{name}.hwloc.xml.txt"
    return read_map(path.read_text(encoding="utf-8"), path.name)
