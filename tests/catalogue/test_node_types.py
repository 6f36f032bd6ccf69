"""The shipped node types: complete, consistent with their own geometry, and equal to the field data."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from slurmwright.catalogue import node_types
from slurmwright.catalogue.node_types import NodeType, gpu_model, gpu_models, load_node_type, node_type_names
from slurmwright.core.errors import InputError

PCI = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]\Z")


def test_an_unknown_type_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"'dgx-h10' is not in the catalogue; did you mean 'dgx-h100'\?"):
        load_node_type("dgx-h10")


def test_a_name_cannot_lead_out_of_the_catalogue() -> None:
    with pytest.raises(InputError, match="is not in the catalogue"):
        load_node_type("../gpu_models")


def test_one_type_is_read_without_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    real = node_types.load

    def spy(path: Path) -> dict[str, Any]:
        read.append(path.name)
        return real(path)

    monkeypatch.setattr(node_types, "load", spy)
    load_node_type.cache_clear()
    load_node_type("dgx-b200")
    assert read == ["dgx-b200.yaml"]


def test_an_unknown_gpu_model_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match=r"did you mean 'h100-nvl'\?"):
        gpu_model("h100-nv")


@pytest.mark.parametrize("name", sorted(gpu_models()))
def test_the_type_we_write_is_a_lower_case_part_of_the_detected_type(name: str) -> None:
    model = gpu_model(name)
    assert model.slurm_type in model.autodetect_type
    assert model.autodetect_type == model.autodetect_type.lower()
    assert re.fullmatch(r"[a-z0-9_.-]+", model.slurm_type)


@pytest.mark.parametrize("name", node_type_names())
class TestEveryType:
    def test_has_a_source_and_plain_ascii_text(self, name: str) -> None:
        assert load_node_type(name).source
        assert (node_types.TYPES / f"{name}.yaml").read_text().isascii()

    def test_no_source_is_a_bare_number(self, name: str) -> None:
        assert not [text for text in load_node_type(name).source if re.fullmatch(r"[\W\d_]*", text)]

    def test_names_a_gpu_model_or_says_why_not(self, name: str) -> None:
        kind = load_node_type(name)
        assert (kind.gpu.model in gpu_models()) or kind.unsure

    def test_gpu_list_is_complete_and_in_order(self, name: str) -> None:
        kind = load_node_type(name)
        assert [gpu.index for gpu in kind.gpus] in ([], list(range(kind.gpu.count)))

    def test_every_gpu_sits_on_a_numa_node_with_cpus(self, name: str) -> None:
        kind = load_node_type(name)
        if kind.cpu.sockets and kind.cpu.numa_per_socket:
            nodes = range(kind.cpu.sockets * kind.cpu.numa_per_socket)
            assert all(gpu.numa in nodes for gpu in kind.gpus)

    def test_numa_nodes_divide_the_cores_of_a_socket(self, name: str) -> None:
        cpu = load_node_type(name).cpu
        if cpu.cores_per_socket and cpu.numa_per_socket:
            assert cpu.cores_per_socket % cpu.numa_per_socket == 0

    def test_pci_ids_are_text_in_the_form_of_sysfs(self, name: str) -> None:
        kind = load_node_type(name)
        ids = [device.pci for device in (*kind.gpus, *kind.network.devices) if device.pci is not None]
        assert [pci for pci in ids if not PCI.match(pci)] == []
        gpus = [gpu.pci for gpu in kind.gpus if gpu.pci]
        assert len(gpus) == len(set(gpus))

    def test_gpus_and_nics_agree_about_each_other(self, name: str) -> None:
        kind = load_node_type(name)
        devices = {nic.name: nic for nic in kind.network.devices}
        assert len(devices) == len(kind.network.devices)
        for gpu in kind.gpus:
            assert all(gpu.index in devices[nic].gpus for nic in gpu.nics if nic in devices)
        for nic in devices.values():
            if nic.role == "compute":
                assert all(nic.name in kind.gpus[index].nics for index in nic.gpus)

    def test_what_is_not_known_is_said(self, name: str) -> None:
        kind = load_node_type(name)
        facts = (*kind.cpu.model_dump(exclude={"model", "bios"}).values(), kind.gpu.model, kind.gpus or None)
        if None in facts:
            assert kind.unsure


# Facts that a person decided otherwise than the collection has them, with the reason.
DECIDED = {
    ("oci-bm.gpu.b4.8", "gpu"): "the collection names the GPU of a second shape as well",
    ("dgx-h200", "memory"): "RealMemory was observed on a DGX H100",
    ("hgx-h200-8gpu-dell-xe9680", "memory"): "RealMemory was observed on the H100 machine",
    ("h200-nvl-2gpu", "memory"): "RealMemory stands in the published line only",
    ("l40s-4gpu", "memory"): "RealMemory stands in the published line only",
}


@pytest.fixture(scope="module")
def collected(field_data: Path) -> dict[str, Any]:
    text = (field_data / "hardware" / "node-types.yaml").read_text(encoding="utf-8")
    return dict(yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))  # noqa: S506


def plain(value: object) -> int | None:
    """A number as the collection has it; words such as `1 or 2 (site)` are not known."""
    return int(value) if str(value).isdigit() else None  # type: ignore[call-overload, no-any-return]


def nodes_with_cpus(raw: dict[str, Any]) -> list[str]:
    """The CPU list of each NUMA node that has CPUs, without the collection's remarks."""
    lists = (re.sub(r"^node\d+: | \(\w+\)$", "", str(text)) for text in raw.get("numa", {}).get("cpus", []))
    return [text for text in lists if re.fullmatch(r"[\d,:-]+", text)]


def test_no_type_and_no_gpu_model_is_lost(collected: dict[str, Any]) -> None:
    assert set(node_type_names()) == set(collected["node_types"])
    assert set(gpu_models()) == set(collected["gpu_models"])


@pytest.mark.parametrize("name", node_type_names())
class TestAgainstTheCollection:
    @pytest.fixture
    def raw(self, collected: dict[str, Any], name: str) -> dict[str, Any]:
        return dict(collected["node_types"][name])

    @pytest.fixture
    def kind(self, name: str) -> NodeType:
        return load_node_type(name)

    def test_geometry(self, kind: NodeType, raw: dict[str, Any]) -> None:
        cpu = raw.get("cpu", {})
        assert kind.cpu.model == cpu.get("model")
        assert kind.cpu.sockets == cpu.get("sockets")
        assert kind.cpu.cores_per_socket == plain(cpu.get("cores_per_socket"))
        assert kind.cpu.threads_per_core == plain(cpu.get("threads_per_core"))
        nodes = nodes_with_cpus(raw)
        counted = (kind.cpu.sockets or 0) * (kind.cpu.numa_per_socket or 0)
        assert counted == len(nodes)

    def test_gpus(self, name: str, kind: NodeType, raw: dict[str, Any]) -> None:
        assert kind.gpu.count == raw["gpu_count"]
        assert kind.gpu.model == raw["gpu"] or (name, "gpu") in DECIDED
        wanted = [
            (g["index"], g.get("pci"), g.get("numa"), g.get("gpu_numa_id")) for g in raw.get("gpus", [])
        ]
        assert [(g.index, g.pci, g.numa, g.gpu_numa_id) for g in kind.gpus] == wanted

    def test_nics_of_each_gpu(self, kind: NodeType, raw: dict[str, Any]) -> None:
        for gpu, listed in zip(kind.gpus, raw.get("gpus", []), strict=True):
            nics = listed.get("nics", [])
            if isinstance(nics, str):
                assert gpu.nics == ()
            else:
                # `PCI 0101:00:00.0` and `NIC 0c` are devices known by address only.
                tails = [re.sub(r"^(PCI|NIC) ", "", text) for text in nics]
                assert len([1 for nic, tail in zip(gpu.nics, tails, strict=False) if tail in nic]) == len(
                    tails
                )

    def test_network_devices(self, kind: NodeType, raw: dict[str, Any]) -> None:
        have = {nic.name: nic for nic in kind.network.devices}
        for listed in raw.get("nics", {}).get("list", []):
            if listed["name"] == "unsure":
                continue
            for name in listed["name"].replace("(none)", listed.get("netdev", "")).split(","):
                nic = have[name]
                assert nic.role == listed["role"]
                assert (nic.pci or "")[:-1] == listed.get("pci", "").removesuffix("/.1")[:-1]
                assert nic.numa == listed.get("numa")
                assert nic.rate_gbps == listed.get("rate_gbps")
                assert nic.model == listed.get("model")
                if kind.arch != "aarch64":
                    assert list(nic.gpus) == listed.get("gpus", [])

    def test_memory(self, name: str, kind: NodeType, raw: dict[str, Any]) -> None:
        memory = raw.get("memory", {})
        assert kind.memory.nominal_gib == plain(memory.get("nominal_gib"))
        assert kind.memory.cpu_memory_mb == memory.get("lpddr_mb")
        real, how = memory.get("real_memory_mb"), memory.get("real_memory_kind", "")
        if how.startswith("derived") or (name, "memory") in DECIDED:
            assert str(real or kind.memory.real_memory_mb) in f"{kind.memory.note} {kind.seen_slurm_line}"
        else:
            assert kind.memory.real_memory_mb == real

    def test_interconnect_and_texts(self, kind: NodeType, raw: dict[str, Any]) -> None:
        for key in ("gen", "label", "nvswitch", "block_size"):
            value = raw.get("nvlink", {}).get(key)
            if value != "n/a":
                assert str(getattr(kind.nvlink, key)) == str(value)
        assert kind.pcie_gen == raw.get("pcie", {}).get("gen")
        assert kind.pcie_note == raw.get("pcie", {}).get("switch")
        assert len(kind.source) == len(raw["source"])
        assert len(kind.unsure) >= len(raw["unsure"])
