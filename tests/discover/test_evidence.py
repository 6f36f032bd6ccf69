"""Evidence of one host to its facts: whom to believe, and what is noted instead of guessed."""

from __future__ import annotations

import base64
import gzip
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.discover.evidence import discover_host
from slurmwright.discover.facts_yaml import facts_yaml, write_facts
from slurmwright.discover.scrub import Scrubber
from slurmwright.discover.sections import read_folder, split_output, write_folder
from slurmwright.model.facts import load_host_facts

BUSES = ("1b", "43", "52", "61", "9d", "c3", "d1", "df")


def sections(minors: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7), link: str = "NV18") -> dict[str, str]:
    """What an 8-GPU host of two sockets prints."""
    names = [f"GPU{at}" for at in range(8)]
    matrix = ["\t" + "\t".join([*names, "CPU Affinity"])]
    for one in names:
        matrix.append("\t".join([one, *("X" if one == two else link for two in names), "0"]))
    return {
        "numa": "node=1 cpus=56-111,168-223 package=1 memory_kb=1056\n"
        "node=0 cpus=0-55,112-167 package=0 memory_kb=1056\nsiblings=0,112\n",
        "pci": "".join(
            f"pci=0000:{bus}:00.0 class=0x030200 vendor=0x10de numa_node={at // 4} "
            f"current_link_width=16 max_link_width=16\n"
            for at, bus in enumerate(BUSES)
        )
        + "pci=0000:18:00.0 class=0x020700 vendor=0x15b3 numa_node=0 current_link_width=16\n",
        "infiniband": "device=mlx5_10 pci=0000:18:00.0 firmware=28.39 rate=400_Gb/sec_(4X_NDR) "
        "state=4:_ACTIVE link_layer=InfiniBand interface=ibp24s0\n",
        "nvidia-proc": "".join(
            f"Model: NVIDIA B200\nVideo BIOS: 97.00.82\nBus Location: 0000:{bus}:00.0\n"
            f"Device Minor: {minor}\n"
            for bus, minor in zip(BUSES, minors, strict=True)
        ),
        "nvidia-smi-query": "".join(
            f"00000000:{bus.upper()}:00.0, NVIDIA B200, 183359, 570.158.01, 97.00, Disabled\n"
            for bus in BUSES
        ),
        "nvidia-smi-topo": "\n".join(matrix),
        "meminfo": "MemTotal:       2113425920 kB\n",
        "system": "kernel=6.8.0\nos=Ubuntu 22.04\ncgroup=cgroup2fs\nmax_user_namespaces=100\n"
        "slurm=slurm 24.11.5\n",
    }


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(8)))
def test_minors_are_those_of_the_driver_in_whatever_order(minors: list[int]) -> None:
    facts = discover_host("gpu01", sections(tuple(minors))).facts
    assert [gpu.minor for gpu in facts.gpus or ()] == minors
    assert [gpu.numa for gpu in facts.gpus or ()] == [0] * 4 + [1] * 4


def test_a_whole_host_is_read_from_all_its_sources() -> None:
    found = discover_host("gpu01", sections())
    facts = found.facts
    assert facts.cpu is not None
    assert [(n.id, n.socket, n.cpus) for n in facts.cpu.numa] == [
        (0, 0, "0-55,112-167"),
        (1, 1, "56-111,168-223"),
    ]
    assert (facts.cpu.threads_per_core, facts.memory and facts.memory.real_memory_mb) == (2, 2063892)
    assert facts.gpus is not None
    assert (facts.gpus[0].model, facts.gpus[0].memory_mb, facts.gpus[0].pcie_width) == (
        "NVIDIA B200",
        183359,
        16,
    )
    assert facts.nics is not None
    assert (facts.nics[0].rate_gbps, facts.nics[0].state, facts.nics[0].numa) == (400, "ACTIVE", 0)
    assert facts.gpu_links is not None
    assert facts.gpu_links[1] == "NV18 X NV18 NV18 NV18 NV18 NV18 NV18"
    assert facts.system is not None
    assert (facts.system.cgroup, facts.system.user_namespaces, facts.system.slurm) == ("v2", True, "24.11.5")
    assert found.notes == ()


def test_the_file_reads_back_as_the_same_facts(tmp_path: Path) -> None:
    facts = discover_host("gpu01", sections()).facts
    assert write_facts(tmp_path, facts)
    assert load_host_facts(tmp_path / "facts/gpu01.yaml") == facts
    assert not write_facts(tmp_path, facts)


def test_the_order_of_sections_changes_no_byte() -> None:
    turned = dict(reversed(list(sections().items())))
    assert facts_yaml(discover_host("a", turned).facts) == facts_yaml(discover_host("a", sections()).facts)


def test_a_run_inside_a_job_is_noticed() -> None:
    inside = {**sections(), "cgroup": "0::/system.slice/slurmstepd.scope/job_77/step_0/user/task_0\n"}
    assert "ran inside the cgroup of job 77" in discover_host("a", inside).notes[0]


def test_a_run_bound_to_some_cpus_is_noticed() -> None:
    bound = {**sections(), "status": "Cpus_allowed_list:\t0-7\n"}
    assert "ran bound to CPUs 0-7" in discover_host("a", bound).notes[0]


def test_gpus_without_a_driver_have_no_minors_and_are_not_called_none() -> None:
    without = {**sections(), "nvidia-proc": ""}
    found = discover_host("a", without)
    assert found.facts.gpus is None
    assert "8 GPUs on the PCI bus but no driver" in found.notes[0]


def test_a_gpu_that_the_driver_lost_is_named() -> None:
    whole = sections()
    lost = whole["nvidia-proc"].split("Model:", 2)
    found = discover_host("a", {**whole, "nvidia-proc": "Model:" + lost[2]})
    assert len(found.facts.gpus or ()) == 7
    assert "a GPU at 0000:1b:00.0 is on the PCI bus but the driver does not have it" in found.notes[0]
    assert "nvidia-smi shows 8 GPUs, the driver has 7" in found.notes[1]


def test_a_matrix_that_is_refused_is_noted_and_left_out() -> None:
    found = discover_host("a", {**sections(), "nvidia-smi-topo": "\tGPU0\tGPU1\nGPU0\tX\tNV4\n"})
    assert found.facts.gpu_links is None
    assert "not believed: nvidia-smi-topo:2" in found.notes[0]


def _divided(profiles: str = "1g.10gb") -> dict[str, str]:
    """The first GPU, of minor 3, divided in two."""
    whole = sections((3, 1, 2, 0, 4, 5, 6, 7))
    listed = "".join(f"GPU {at}: NVIDIA B200 (UUID: GPU-{at})\n" for at in range(8))
    devices = f"  MIG {profiles}    Device  0: (UUID: MIG-1)\n  MIG 2g.20gb    Device  1: (UUID: MIG-2)\n"
    asked = "==NVSMI LOG==\nAttached GPUs    : 8\n"
    for at, bus in enumerate(BUSES):
        asked += f"GPU 00000000:{bus.upper()}:00.0\n    Product Name    : NVIDIA B200\n    MIG Devices\n"
        if at == 0:
            for index, gi in ((0, 9), (1, 3)):
                asked += f"    MIG Device\n        Index    : {index}\n        GPU Instance ID    : {gi}\n"
                asked += "        Compute Instance ID    : 0\n"
    return {
        **whole,
        "nvidia-smi-query": whole["nvidia-smi-query"].replace("Disabled", "Enabled", 1),
        "nvidia-smi-l": listed.replace("GPU-0)\n", f"GPU-0)\n{devices}"),
        "nvidia-smi-q": asked,
        "mig-minors": "config 1\nmonitor 2\ngpu3/gi9/access 84\ngpu3/gi9/ci0/access 85\n"
        "gpu3/gi3/access 30\ngpu3/gi3/ci0/access 31\ngpu0/gi9/access 7\ngpu0/gi9/ci0/access 8\n",
    }


def test_mig_instances_have_the_files_of_their_gpu_by_its_minor() -> None:
    found = discover_host("a", _divided())
    assert found.notes == ()
    first, second = (found.facts.gpus or ())[:2]
    assert [(one.profile, one.caps) for one in first.mig or ()] == [
        ("1g.10gb", (84, 85)),
        ("2g.20gb", (30, 31)),
    ]
    assert second.mig == ()


@pytest.mark.parametrize("gone", ["nvidia-smi-l", "nvidia-smi-q", "mig-minors"])
def test_mig_instances_that_cannot_all_be_read_are_left_out_with_a_note(gone: str) -> None:
    found = discover_host("a", {**_divided(), gone: ""})
    assert (found.facts.gpus or ())[0].mig is None
    assert found.notes == ("GPU 0000:1b:00.0 has MIG on, but its instances could not all be read",)


def test_a_number_that_cannot_be_is_refused_for_its_host() -> None:
    with pytest.raises(InputError, match="shows a number that cannot be"):
        discover_host("a", {**sections(), "numa": f"node={'9' * 5000} cpus=0 package=0\nsiblings=0\n"})


def test_a_gpu_on_a_node_of_its_own_memory_is_near_no_cpu_node() -> None:
    far = sections()["pci"].replace("numa_node=0", "numa_node=5", 1)
    assert (discover_host("a", {**sections(), "pci": far}).facts.gpus or ())[0].numa is None


def test_an_export_of_lstopo_tells_cpus_where_sysfs_was_not_captured(field_data: Path) -> None:
    xml = (field_data / "captures/nodes/aws-g6.48xl.hwloc.xml.txt").read_text()
    cpu = discover_host("a", {"lstopo-xml": xml}).facts.cpu
    assert cpu is not None
    assert (cpu.threads_per_core, [(node.socket, node.cpus) for node in cpu.numa]) == (
        2,
        [(0, "0-47,96-143"), (1, "48-95,144-191")],
    )


def test_output_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="nothing of its hardware could be read"):
        discover_host("a", {"lscpu": "bash: lscpu: command not found\n"})


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([*sorted(sections()), "lscpu", "slurmd-c", "cgroup", "status"]), st.text(max_size=200)
    )
)
def test_garbage_in_any_section_is_noted_or_refused(own: dict[str, str]) -> None:
    try:
        found = discover_host("a", {**sections(), **own})
    except InputError:
        return
    assert found.facts.host == "a"


def test_output_without_its_end_is_refused_and_noise_before_it_is_passed() -> None:
    text = "Welcome!\n@@slurmwright begin lscpu\nCPU(s): 4\n\n@@slurmwright end lscpu 0\n"
    assert split_output(text + "@@slurmwright done\n", "a") == {"lscpu": "CPU(s): 4\n"}
    with pytest.raises(InputError, match="ends before the script was done"):
        split_output(text, "a")


def test_a_bundle_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_folder(tmp_path, {"n1": sections(), "n2": {"meminfo": "MemTotal: 1 kB\n"}})
    assert read_folder(tmp_path)["n1"] == sections()
    assert list(read_folder(tmp_path / "n2")) == ["n2"]


def test_what_identifies_a_machine_is_replaced_and_equal_ones_stay_equal() -> None:
    uuid = "GPU-7f3b2c1d-1234-5678-9abc-0123456789ab"
    text = (
        f"GPU 0: NVIDIA H100 (UUID: {uuid})\n    Serial Number        : 1652922012345\n"
        f"MAC a0:88:c2:03:12:34\n"
        "GID: fe80:0000:0000:0000:a088:c203:0012:3456\n    GPU PDI    : 0x7f3b2c1d00112233\n"
        f"node_guid: a088:c203:0012:3456\nbus 0000:1b:00.0 cpus 0-55,112-167 again {uuid}\n"
    )
    clean = Scrubber().scrub(text)
    for own in ("7f3b2c1d", "1652922012345", "a0:88:c2", "a088:c203"):
        assert own not in clean
    assert clean.count("GPU-00000000-0000-0000-0000-000000000001") == 2
    assert "bus 0000:1b:00.0 cpus 0-55,112-167 again" in clean


#: The smallest file with the symbol plugin_version: header, one segment, 0x180b05, names, symbols, sections.
_ELF = (
    b"\x7fELF\x02\x01\x01"
    + bytes(9)
    + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 188, 0, 64, 56, 1, 64, 3, 0)
    + struct.pack("<IIQQQQQQ", 1, 4, 120, 0x2000, 0x2000, 4, 4, 8)
    + struct.pack("<I", 0x180B05)
    + b"\0plugin_version\0"
    + bytes(24)
    + struct.pack("<IBBHQQ", 1, 0x11, 0, 1, 0x2000, 4)
    + bytes(64)
    + struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, 140, 48, 2, 0, 8, 24)
    + struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 124, 16, 0, 0, 1, 0)
)


@pytest.mark.parametrize(
    ("data", "built"),
    [(b"no plugin", None), (b"\x7fELF" + bytes(100), None), (bytes(3_000_000), None), (_ELF, "24.11.5")],
)
def test_a_plugin_of_pyxis_that_cannot_be_read_is_no_fact(data: bytes, built: str | None) -> None:
    packed = base64.b64encode(gzip.compress(data)).decode()
    seen = {**sections(), "system": f"kernel=6\npyxis=/opt/spank_pyxis.so\npyxis_file={packed}\n"}
    system = discover_host("gpu01", seen).facts.system
    assert system is not None
    assert (system.pyxis, system.pyxis_slurm) == ("/opt/spank_pyxis.so", built)
