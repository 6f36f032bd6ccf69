"""Parsers beyond the captures: what each refuses, layouts that no capture has, and properties."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.core.errors import InputError
from slurmwright.discover.parse import (
    ibdev2netdev,
    lscpu,
    lspci_t,
    numactl,
    nvidia_proc,
    slurmd_c,
    smi_l,
    smi_q,
    topo,
)
from slurmwright.discover.parse.kinds import KINDS, parse_json

FEW = settings(max_examples=60, deadline=None)


def _problem(kind: str, text: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_json(kind, text, "f")
    return str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
@FEW
@given(text=st.text(max_size=300))
def test_any_text_is_read_or_refused(kind: str, text: str) -> None:
    try:
        json.dumps(parse_json(kind, text, "f"))
    except InputError as error:
        seen = {problem.file for problem in error.problems}
        assert seen == {"f"}


LINKS = st.sampled_from(["SYS", "NODE", "PHB", "PXB", "PIX"])


@st.composite
def matrices(draw: st.DrawFn) -> tuple[list[str], dict[tuple[str, str], str], list[str]]:
    """Devices, a symmetric matrix, and for each GPU its three affinities."""
    gpus = [f"GPU{at}" for at in range(draw(st.integers(1, 5)))]
    nics = [f"NIC{at}" for at in range(draw(st.integers(0, 4)))]
    links = {}
    for one, two in itertools.combinations([*gpus, *nics], 2):
        fast = st.builds("NV{}".format, st.integers(1, 18)) if two in gpus else LINKS
        links[one, two] = links[two, one] = draw(LINKS | fast)
    beside = [
        draw(st.sampled_from(["0-55,112-167\t0-1,4\t\tN/A", "0,2,4,6\t1\t\t12", "0-3\tN/A\t\tN/A"]))
        for _ in gpus
    ]
    return [*gpus, *nics], links, beside


def _drawn(devices: list[str], links: dict[tuple[str, str], str], beside: list[str]) -> list[str]:
    lines = ["\t\x1b[4m" + "\t".join([*devices, "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"]) + "\x1b[0m"]
    for at, one in enumerate(devices):
        cells = [" X " if one == two else links[one, two] for two in devices]
        lines.append("\t".join([one, *cells, beside[at] if at < len(beside) else "\t\t\t"]))
    return lines


@FEW
@given(matrices(), st.booleans())
def test_a_matrix_reads_back_from_tabs_and_from_spaces(drawn, spaces) -> None:  # type: ignore[no-untyped-def]
    devices, links, beside = drawn
    text = "\n".join(_drawn(devices, links, beside))
    found = topo.parse(text.expandtabs(8) if spaces else text, "f")
    assert {(one, two): link for one, row in found.links.items() for two, link in row.items()} == links
    assert [(g.cpu_affinity, g.numa, g.gpu_numa) for g in found.gpus] == [
        tuple(text.replace("\t\t", "\t").split("\t")) for text in beside
    ]
    assert [nic.device for nic in found.nics] == [None] * (len(devices) - len(beside))


@FEW
@given(matrices(), st.data())
def test_a_matrix_that_lost_a_tab_a_row_or_agreement_is_refused(drawn, data) -> None:  # type: ignore[no-untyped-def]
    devices, links, beside = drawn
    lines = _drawn(devices, links, beside)
    row = data.draw(st.integers(1, len(devices)))
    harm = data.draw(st.sampled_from(["tab", "row", "other"]))
    if harm == "row":
        del lines[row]
    elif harm == "tab":
        cells = lines[row].split("\t")
        at = data.draw(st.integers(0, len(devices) - 1))
        lines[row] = "\t".join([*cells[:at], cells[at] + cells[at + 1], *cells[at + 2 :]])
    else:
        cells = lines[row].split("\t")
        at = data.draw(st.integers(1, len(devices)))
        cells[at] = "NODE" if cells[at] != "NODE" else "SYS"
        lines[row] = "\t".join(cells)
    with pytest.raises(InputError):
        topo.parse("\n".join(lines), "f")


def test_nvlink_between_a_gpu_and_a_nic_contradicts_itself() -> None:
    text = "\tGPU0\tNIC0\tCPU Affinity\nGPU0\t X \tNV4\t0-3\nNIC0\tNV4\t X \t\n"
    assert "f:2:10: GPU0 to NIC0 is NV4; NVLink joins GPUs only" in _problem("nvidia-smi-topo", text)


def test_a_legend_of_a_nic_without_a_column_is_a_cut_matrix() -> None:
    text = "\tGPU0\tCPU Affinity\nGPU0\t X \t0-3\n\nNIC Legend:\n\n  NIC0: mlx5_0\n"
    assert "f:6:1: the legend names NIC0, which is no column" in _problem("nvidia-smi-topo", text)


def test_a_blank_affinity_among_spaces_is_refused() -> None:
    text = "        GPU0    CPU Affinity    NUMA Affinity\nGPU0     X              0\n"
    assert "which is which cannot be told" in _problem("nvidia-smi-topo", text)


@FEW
@given(st.lists(st.sets(st.integers(0, 300)), min_size=1, max_size=6), st.booleans())
def test_lscpu_gives_back_the_nodes_of_text_and_of_json(sets: list[set[int]], as_json: bool) -> None:
    taken: set[int] = set()
    own = []
    for cpus in sets:
        own.append(fold_cpus(cpus - taken) if cpus - taken else None)
        taken |= cpus
    pairs = [
        ("NUMA node(s):", str(len(own))),
        *((f"NUMA node{at} CPU(s):", cpus) for at, cpus in enumerate(own)),
    ]
    if as_json:
        text = json.dumps(
            {
                "lscpu": [
                    {"field": "NUMA:", "data": None, "children": [{"field": k, "data": v} for k, v in pairs]}
                ]
            }
        )
    else:
        text = "\n".join(f"  {key}  {value or ''}" for key, value in pairs)
    assert [node.cpus for node in lscpu.parse(text, "f").numa] == own


@pytest.mark.parametrize(
    ("kind", "text", "words"),
    [
        ("lscpu", "NUMA node(s): 2\nNUMA node0 CPU(s): 0-3\n", "says 2 NUMA nodes but shows 1"),
        (
            "lscpu",
            "NUMA node0 CPU(s): 0-3\nNUMA node1 CPU(s): 3-5\n",
            "CPU 3 is in NUMA node 0 and in node 1",
        ),
        ("lscpu", "Thread(s) per core: two\n", "f:1:21: 'two' is no number"),
        ("lscpu", '{"lscpu": [{"field": "CPU(s):", "data": 3}]}', "data that is no text"),
        ("numactl", "available: 2 nodes (0-1)\nnode 0 cpus: 0 1\n", "says nodes 0-1 but shows 0"),
        ("numactl", "node 0 cpus: 0 1\nnode 1 cpus: 1 2\n", "CPU 1 is in node 0 and in node 1"),
        (
            "numactl",
            "node 0 cpus: 0\nnode distances:\nnode   0   1\n  0:  10  21\n",
            "the table of distances",
        ),
        ("numactl", "No NUMA support available on this system.\n", "is no line of `numactl -H`"),
        ("slurmd-c", "NodeName=a CPUs=4 Boards=1\n", "it is cut off"),
        ("slurmd-c", "NodeName=a CPUs=4Boards=1\n", "f:1:12: CPUs=4Boards=1 is no number"),
        ("nvidia-smi-l", "GPU 1: A (UUID: GPU-1)\n", "GPU 1 where GPU 0 was expected"),
        (
            "nvidia-smi-q",
            "==NVSMI LOG==\nAttached GPUs : 2\nGPU 00000000:19:00.0\n",
            "says 2 attached GPUs but shows 1",
        ),
        ("nvidia-proc", "Model: A\nBus Location: 0000:19:00.0\n", "without 'Device Minor'"),
        (
            "nvidia-proc",
            "Model: A\nBus Location: 0000:19:00.0\nDevice Minor: 1\n"
            "Model: A\nBus Location: 0000:1a:00.0\nDevice Minor: 1\n",
            "two GPUs have the minor 1",
        ),
        ("lspci-t", "-[0000:00]-+-00.0\n           +-01.0\n", "a branch is still open"),
        ("lspci-t", "-[0000:00]---00.0\n     \\-01.0\n", "f:2:6: this branch hangs below none"),
        ("ibdev2netdev", "mlx5_0 port 1 => ib0 (Up)\n", "is no line of ibdev2netdev"),
        ("ibdev2netdev", "mlx5_0 port 1 ==> ib0 (Up)\n" * 2, "f:2:1: mlx5_0 port 1 stands twice"),
        ("lstopo-xml", "<topology version='2.0'><object type='Machine'/></topology>", "holds no NUMA node"),
    ],
)
def test_what_contradicts_itself_or_is_cut_off_is_refused(kind: str, text: str, words: str) -> None:
    assert words in _problem(kind, text)


@FEW
@given(
    st.lists(
        st.tuples(st.sets(st.integers(0, 500), max_size=9), st.integers(0, 10**6)), min_size=1, max_size=5
    )
)
def test_numactl_gives_back_its_nodes(nodes: list[tuple[set[int], int]]) -> None:
    taken: set[int] = set()
    lines = [f"available: {len(nodes)} nodes ({fold_cpus(range(len(nodes)))})"]
    expected = []
    for at, (cpus, size) in enumerate(nodes):
        own = sorted(cpus - taken)
        taken |= cpus
        lines += [f"node {at} cpus:" + "".join(f" {cpu}" for cpu in own), f"node {at} size: {size} MB"]
        expected.append((at, fold_cpus(own) if own else None, size))
    found = numactl.parse("\n".join(lines), "f")
    assert [(node.id, node.cpus, node.size_mb) for node in found.nodes] == expected


@FEW
@given(st.permutations(range(8)))
def test_the_driver_tells_the_minor_whatever_the_order(minors: list[int]) -> None:
    text = "".join(
        f"Model: \t\t NVIDIA H100\nIRQ:   \t\t {at}\nGPU UUID: \t GPU-????????\n"
        f"Bus Location: \t 0000:{at:02x}:00.0\nDevice Minor: \t {minor}\nGPU Excluded:\t No\n"
        for at, minor in enumerate(minors)
    )
    assert [gpu.minor for gpu in nvidia_proc.parse(text, "f").gpus] == minors


def test_mig_devices_belong_to_the_gpu_above_them() -> None:
    text = (
        "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-1)\n  MIG 1g.5gb     Device  0: (UUID: MIG-1)\n"
        "  MIG 2g.10gb    Device  1: (UUID: MIG-2)\nGPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-2)\n"
    )
    first, second = smi_l.parse(text, "f").gpus
    assert ([mig.profile for mig in first.mig], second.mig) == (["1g.5gb", "2g.10gb"], ())


def test_no_devices_is_an_answer_and_no_text_is_none() -> None:
    assert smi_l.parse("No devices found.\n", "f").gpus == ()
    assert "no GPU is in it" in _problem("nvidia-smi-l", "")


def test_a_switch_with_two_gpus_and_a_nic_is_seen_in_the_tree() -> None:
    tree = (
        "-+-[0000:80]-+-00.0\n"
        " |           \\-01.0-[81-84]----00.0-[82-84]--+-00.0-[83]----00.0\n"
        " |                                           \\-01.0-[84]--+-00.0\n"
        " |                                                        \\-00.1\n"
        " \\-[0000:00]---00.0\n"
    )
    found = {device.pci: device.parent for device in lspci_t.parse(tree, "f").devices}
    assert found == {
        "0000:80:00.0": None,
        "0000:80:01.0": None,
        "0000:81:00.0": "0000:80:01.0",
        "0000:82:00.0": "0000:81:00.0",
        "0000:83:00.0": "0000:82:00.0",
        "0000:82:01.0": "0000:81:00.0",
        "0000:84:00.0": "0000:82:01.0",
        "0000:84:00.1": "0000:82:01.0",
        "0000:00:00.0": None,
    }


def test_ibdev2netdev_with_v_tells_address_and_firmware() -> None:
    line = (
        "0000:18:00.0 mlx5_0 (MT4129 - MCX750500B-0D00) NVIDIA ConnectX-7 fw 28.39.1002 "
        "port 1 (ACTIVE) ==> ib0 (Up)"
    )
    (port,) = ibdev2netdev.parse(line, "f").ports
    assert (port.device, port.pci, port.firmware, port.interface) == (
        "mlx5_0",
        "0000:18:00.0",
        "28.39.1002",
        "ib0",
    )


def test_log_lines_around_slurmd_c_say_nothing_about_the_node() -> None:
    text = (
        "slurmd: Considering each NUMA node as a socket\nNodeName=n CPUs=4 Boards=1 SocketsPerBoard=1 "
        "CoresPerSocket=2 ThreadsPerCore=2 RealMemory=7\nUpTime=0-01:02:03\n"
    )
    assert slurmd_c.parse(text, "f").real_memory_mb == 7


def test_not_available_is_unknown_in_a_query() -> None:
    text = "==NVSMI LOG==\nAttached GPUs    : 1\nGPU 00000000:19:00.0\n    Minor Number    : N/A\n"
    (gpu,) = smi_q.parse(text, "f").gpus
    assert (gpu.pci, gpu.minor) == ("00000000:19:00.0", None)


TREE = (
    "-+-[0000:80]-+-00.0\n |           \\-01.0-[81]--+-00.0\n"
    " |                       \\-00.1\n \\-[0000:00]---00.0\n"
)
GOOD = {
    "lspci-t": TREE,
    "nvidia-proc": "Model: A\nBus Location: 0000:19:00.0\nDevice Minor: 1\n",
    "nvidia-smi-topo": "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tNV4\t0-3\nGPU1\tNV4\t X \t4-7\n",
    "numactl": "available: 1 nodes (0)\nnode 0 cpus: 0 1\nnode distances:\nnode 0\n  0:  10\n",
    "nvidia-smi-q": "==NVSMI LOG==\nAttached GPUs : 1\nGPU 00000000:19:00.0\n    Minor Number : 0\n",
    "slurmd-c": "NodeName=n CPUs=4 Boards=1 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=2 "
    "RealMemory=7\n",
}


@pytest.mark.parametrize("kind", GOOD)
@FEW
@given(data=st.data())
def test_damaged_output_is_read_or_refused(kind: str, data: st.DataObject) -> None:
    text = GOOD[kind]
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 12))
    put = data.draw(st.text("\t |+-\\:.[]()0123X\n\x1b²é", max_size=4))
    try:
        json.dumps(parse_json(kind, text[:at] + put + text[at + cut :], "f"))
    except InputError as error:
        assert error.problems  # noqa: PT017 - either is right


def test_a_line_of_bars_alone_is_no_tree() -> None:
    assert "f:1:2: '' is no branch of the tree" in _problem("lspci-t", "|\n")
