"""The stand-in for nvidia-smi prints what the real one prints; the real output is a recorded one."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from slurmwright.rehearse.machines import image

B200 = {
    "name": "NVIDIA B200",
    "uuid": "GPU-5ad1ac9a-0000-4000-8000-000000000000",
    "minor": 0,
    "vbios_version": "96.00.74.00.0D",
    "pci.bus_id": "00000000:1B:00.0",
    "memory": 183359,
    "watts": 1000,
    "architecture": "Blackwell",
    "index": 0,
}


@pytest.fixture
def smi(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    path = Path(image.__file__).parent / "guest" / "nvidia_smi.py"
    spec = importlib.util.spec_from_file_location("nvidia_smi", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "driver_version", lambda: "570.158.01")
    return module


def test_the_table_has_the_lines_of_a_recorded_one(
    smi: ModuleType, field_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    smi.table([B200])
    ours = capsys.readouterr().out.splitlines()[1:]
    real = (field_data / "captures/nodes/dgx-b200.nvidia-smi.txt").read_text().splitlines()[1:]

    def plain(line: str) -> str:
        """Without temperature, power and CUDA version, which are the machine's own."""
        line = re.sub(r"CUDA Version: [\d.]+", "CUDA Version: ****", line)
        return re.sub(r"\d+C    P0 +\d+W", "**C    P0            ***W", line)

    assert [plain(line) for line in ours] == [plain(line) for line in real[: len(ours)]]


def test_the_list_names_index_model_and_uuid(smi: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    smi.listed([B200])
    assert capsys.readouterr().out == f"GPU 0: NVIDIA B200 (UUID: {B200['uuid']})\n"


def test_details_have_the_lines_that_people_look_for_in_a_recorded_one(
    smi: ModuleType, field_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    smi.details([B200])
    ours = capsys.readouterr().out
    real = (field_data / "captures/nodes/hgx-h100-dell-evenodd.nvidia-smi-q.txt").read_text()
    for key in ("Attached GPUs", "Product Name", "GPU UUID", "Minor Number", "Bus Id", "Persistence Mode"):
        (line,) = (line for line in real.splitlines() if line.strip().startswith(f"{key} "))
        start = line[: line.index(":") + 2]
        assert f"\n{start}" in ours, key


def test_a_query_has_a_header_with_units_or_none(smi: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert smi.queried([B200], ["index", "memory.total"], ["csv"]) == 0
    assert capsys.readouterr().out == "index, memory.total [MiB]\n0, 183359 MiB\n"
    smi.queried([B200], ["index", "memory.total"], ["csv", "noheader", "nounits"])
    assert capsys.readouterr().out == "0, 183359\n"


def test_an_unknown_field_is_refused(smi: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    assert smi.queried([B200], ["colour"], ["csv"]) == 2
    assert 'Field "colour" is not a valid field to query.' in capsys.readouterr().out
