"""gres.conf: each GPU's file once, in rising order, with the cores of exactly its socket."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.node_types import load_node_type
from slurmwright.conf import parse
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.hosts import expand
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.topology.cpus import CpuLayout

Make = Callable[..., Cluster]
Seen = Callable[..., HostFacts]
Text = Callable[..., str]


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def devices(text: str, host: str) -> list[tuple[int, str]]:
    """(minor, Cores) of each GPU of one host, in the order in which slurmd reads them."""
    found: list[tuple[int, str]] = []
    for statement in parse(text, "gres.conf").statements:
        pairs = {pair.key: pair.value for pair in statement.pairs}
        if host in expand(pairs["NodeName"]):
            bracket = re.search(r"\[(.*)\]", pairs["File"])
            minors = parse_cpus(bracket[1] if bracket else pairs["File"].removeprefix("/dev/nvidia"))
            found += [(minor, pairs["Cores"]) for minor in minors]
    return found


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (
            "dgx-h100",
            [
                "NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-3] Cores=0-55",
                "NodeName=n[1-2] Name=gpu Type=h100 File=/dev/nvidia[4-7] Cores=56-111",
            ],
        ),
        (
            "dgx-a100-80gb",
            [
                "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=48-63",
                "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[2-3] Cores=16-31",
                "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[4-5] Cores=112-127",
                "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[6-7] Cores=80-95",
            ],
        ),
        (
            "l40s-4gpu",
            [
                "NodeName=n[1-2] Name=gpu Type=l40s File=/dev/nvidia[0-1] Cores=0-31",
                "NodeName=n[1-2] Name=gpu Type=l40s File=/dev/nvidia[2-3] Cores=32-63",
            ],
        ),
        (
            "gh200-single",
            ["NodeName=n[1-2] Name=gpu Type=gh200 File=/dev/nvidia0 Cores=0-71"],
        ),
    ],
)
def test_lines_of_types_whose_map_is_published(
    make: Make, text_of: Text, kind: str, lines: list[str]
) -> None:
    text = text_of(make(f"{{hosts: 'n[1-2]', type: {kind}}}"), "gres.conf")
    assert lines_of(text) == lines
    assert "# assumed: device numbers follow PCI order" in text


def test_what_facts_say_is_not_marked_as_assumed(make: Make, seen: Seen, text_of: Text) -> None:
    facts = {
        f"n{number}": seen(f"n{number}", gpus=[(0, 0), (1, 0), (2, 1), (3, 1)]) for number in range(1, 5)
    }
    text = text_of(make(), "gres.conf", facts)
    assert "assumed" not in text
    assert len(lines_of(text)) == 2


def test_device_numbers_that_run_against_the_sockets_stay_in_rising_order(
    make: Make, seen: Seen, text_of: Text
) -> None:
    facts = {"n1": seen("n1", gpus=[(2, 0), (0, 0), (1, 1), (3, 1)])}
    text = text_of(make("{hosts: n1, type: small}"), "gres.conf", facts)
    assert devices(text, "n1") == [(0, "0-3"), (1, "4-7"), (2, "0-3"), (3, "4-7")]


def test_device_numbers_with_gaps_are_listed_as_slurm_reads_them(
    make: Make, seen: Seen, text_of: Text
) -> None:
    facts = {"n1": seen("n1", gpus=[(0, 0), (2, 0), (4, 0), (7, 1)])}
    text = text_of(make("{hosts: n1, type: small}"), "gres.conf", facts)
    assert "File=/dev/nvidia[0,2,4] Cores=0-3" in text
    assert "File=/dev/nvidia7 Cores=4-7" in text


@pytest.mark.parametrize("way", ["nvml", "nvidia"])
def test_detection_stands_alone_on_its_line(make: Make, text_of: Text, way: str) -> None:
    cluster = make(f"{{hosts: 'n[1-4]', type: small, autodetect: {way}}}")
    assert lines_of(text_of(cluster, "gres.conf")) == [f"NodeName=n[1-4] AutoDetect={way}"]


def test_nodes_without_gpus_are_not_named(make: Make, text_of: Text) -> None:
    nodes = "{hosts: a1, type: small}\n{hosts: b1, type: plain}"
    cluster = make(nodes, types="  plain: {extends: small, gpu: {count: 0}, gpus: []}\n")
    assert "b1" not in text_of(cluster, "gres.conf")


def test_no_flags_are_written(make: Make, text_of: Text) -> None:
    """Up to 25.11 any Flags without a vendor leaves CUDA_VISIBLE_DEVICES unset."""
    assert "Flags" not in text_of(make(), "gres.conf")


def test_every_line_of_a_node_has_a_type(make: Make, text_of: Text) -> None:
    nodes = "{hosts: a1, type: dgx-a100-80gb}\n{hosts: h1, type: dgx-h100}\n{hosts: n1, type: small}"
    for line in lines_of(text_of(make(nodes), "gres.conf")):
        assert " Type=" in line


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3),
    st.sampled_from([1, 2, 4]),
    st.integers(1, 6),
    st.sampled_from([1, 2]),
    st.data(),
)
def test_cores_are_one_whole_socket_of_the_gpus_own_numa_node(
    make: Make,
    seen: Seen,
    text_of: Text,
    sockets: int,
    numa: int,
    cores: int,
    threads: int,
    data: st.DataObject,
) -> None:
    layout = CpuLayout.regular(sockets, cores * numa, threads, numa, "interleaved")
    nodes = data.draw(st.lists(st.integers(0, sockets * numa - 1), min_size=1, max_size=8))
    minors = data.draw(st.permutations(range(len(nodes))))
    types = (
        f"  drawn: {{cpu: {{sockets: {sockets}, cores_per_socket: {cores * numa}, "
        f"threads_per_core: {threads}, numa_per_socket: {numa}, numbering: interleaved}}, "
        f"memory: {{nominal_gib: 64}}, gpu: {{model: h100, count: {len(nodes)}}}}}\n"
    )
    shown = [(node.id, node.socket, node.cpu_list) for node in layout.nodes]
    facts = {"n1": seen("n1", shown, list(zip(minors, nodes, strict=True)), threads=threads)}
    text = text_of(make("{hosts: n1, type: drawn}", types=types, release="26.05"), "gres.conf", facts)
    found = devices(text, "n1")
    assert [minor for minor, _ in found] == sorted(minors)
    expected = {minor: layout.numa_node(node).core_range for minor, node in zip(minors, nodes, strict=True)}
    for minor, written in found:
        assert (parse_cpus(written)[0], parse_cpus(written)[-1]) == expected[minor]


def test_even_and_odd_cpu_numbers_do_not_reach_the_file(make: Make, text_of: Text) -> None:
    assert load_node_type("hgx-h100-8gpu-dell-xe9680").cpu.numbering == "interleaved"
    text = text_of(make("{hosts: n1, type: hgx-h100-8gpu-dell-xe9680}"), "gres.conf")
    assert {cores for _, cores in devices(text, "n1")} == {"0-55", "56-111"}
