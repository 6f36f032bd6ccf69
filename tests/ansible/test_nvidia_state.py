"""The module that says what is wrong with the NVIDIA driver of a node. Lines are those of real machines."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("ansible", reason="ansible-core is not installed")

CLOSED = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.161.08  Sat Feb 17 22:55:48 UTC 2024\n"
OPEN = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build  (dvs)\n"
ENABLED = "\n".join(f"{index}, Enabled" for index in range(8))


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "nvidia_state", "roles/nvidia_check/library/nvidia_state.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


state = load()


def wanted(**more: Any) -> dict[str, Any]:
    return {"count": 8, "minors": list(range(8)), "caps": [], "min_driver": "", **more}


@pytest.mark.parametrize(("text", "release"), [(CLOSED, "535.161.08"), (OPEN, "550.54.15"), ("", "")])
def test_the_release_of_either_kernel_module_is_read(text: str, release: str) -> None:
    assert state.driver_release(text) == release


def test_a_node_without_driver_says_only_that() -> None:
    faults = state.driver_faults("", 0, wanted())
    assert faults == ["the kernel driver is not loaded (no /proc/driver/nvidia/version); install and load it"]


def test_releases_are_compared_as_numbers() -> None:
    assert state.driver_faults(CLOSED, 8, wanted(min_driver="535.54.03")) == []
    assert state.driver_faults(CLOSED, 8, wanted(min_driver="550")) == [
        "driver 535.161.08 is older than 550; update it"
    ]


def test_a_gpu_that_fell_off_the_bus_is_counted_by_kernel_and_nvidia_smi() -> None:
    assert state.driver_faults(OPEN, 7, wanted()) == ["the kernel driver has 7 GPUs, the node has 8"]
    seven = "\n".join(ENABLED.splitlines()[:7])
    assert state.smi_faults(0, seven, wanted()) == ["nvidia-smi shows 7 GPUs, the node has 8"]
    assert state.smi_faults(0, ENABLED, wanted()) == []


def test_libraries_of_another_release_are_told_in_the_words_of_nvidia_smi() -> None:
    said = "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n"
    assert state.smi_faults(18, said, wanted()) == [f"nvidia-smi says: {said.strip()}"]


def test_persistence_is_the_daemon_or_every_gpu() -> None:
    assert state.persistence_faults("active", "") == []
    assert state.persistence_faults("inactive", ENABLED) == []
    one_off = ENABLED.replace("3, Enabled", "3, Disabled")
    assert state.persistence_faults("inactive", one_off) == [
        "nvidia-persistenced is inactive and persistence mode is off; enable the service"
    ]


def test_fabric_manager_runs_and_is_of_the_same_release_as_the_driver() -> None:
    said = "Fabric Manager version is : 535.161.08"
    assert state.fabric_faults("active", said, "535.161.08") == []
    assert state.fabric_faults("active", said, "550.54.15") == [
        "fabric manager 535.161.08 is not of driver 550.54.15; install the same release"
    ]
    assert "CUDA does not start" in state.fabric_faults("failed", said, "535.161.08")[0]


def test_device_files_are_character_devices(tmp_path: Path) -> None:
    plain = tmp_path / "nvidia0"
    plain.touch()
    faults = state.device_faults(["/dev/null", str(plain), str(tmp_path / "nvidia1")])
    assert faults == [f"no {tmp_path}/nvidia1", f"no device file: {plain}"]


def test_uvm_and_the_capabilities_of_mig_are_asked_for_too() -> None:
    found = state.devices(wanted(minors=[0], caps=[12, 13]))
    assert found == [
        "/dev/nvidiactl",
        "/dev/nvidia-uvm",
        "/dev/nvidia-uvm-tools",
        "/dev/nvidia0",
        "/dev/nvidia-caps/nvidia-cap12",
        "/dev/nvidia-caps/nvidia-cap13",
    ]
