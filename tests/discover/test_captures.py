"""Every recorded capture reads as the table says: what a person reads in it, and which kinds it is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError
from slurmwright.discover.parse.kinds import KINDS, parse_json

TABLE: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data/discover/captures.yaml").read_text()
)
READABLE = sorted(name for name, row in TABLE.items() if row["kinds"])
TOPO = sorted(name for name, row in TABLE.items() if "links" in row)
REFUSED = sorted(name for name, row in TABLE.items() if "refused" in row)


def _text(folder: Path, name: str) -> str:
    return (folder / "captures" / name).read_text()


def _at(data: Any, path: str) -> Any:
    for step in path.split("."):
        data = data[int(step)] if isinstance(data, (list, tuple)) else data[step]
    return data


def test_the_table_names_every_capture(field_data: Path) -> None:
    files = {
        f"{folder}/{path.name}"
        for folder in ("topo-m", "nodes")
        for path in (field_data / "captures" / folder).iterdir()
        if path.suffix == ".txt"
    }
    assert files == TABLE.keys()


@pytest.mark.parametrize("name", sorted(TABLE))
def test_only_the_parsers_of_its_kinds_take_a_capture(field_data: Path, name: str) -> None:
    taken = []
    for kind in KINDS:
        try:
            parse_json(kind, _text(field_data, name), name)
        except InputError:
            continue
        taken.append(kind)
    assert taken == TABLE[name]["kinds"]
    assert taken or TABLE[name]["why"]


@pytest.mark.parametrize("name", READABLE)
def test_a_capture_reads_as_a_person_reads_it(field_data: Path, name: str) -> None:
    row = TABLE[name]
    data = parse_json(row["kinds"][0], _text(field_data, name), name)
    for path, value in row.get("expect", {}).items():
        seen = _at(data, path)
        assert (
            list(map(list, seen)) if path == "distances" else list(seen) if path[:9] == "distances" else seen
        ) == value, path
    if "nodes" in row:
        nodes = data["numa"] if "numa" in data else data["nodes"]
        assert isinstance(nodes, (list, tuple))
        assert [node["id"] for node in nodes] == list(range(len(row["nodes"])))
        assert [_cpus(node["cpus"]) for node in nodes] == [_cpus(cpus) for cpus in row["nodes"]]
    if isinstance(row.get("gpus"), dict):
        assert {gpu["pci"]: gpu["numa"] for gpu in _at(data, "gpus")} == row["gpus"]


def _cpus(text: str | None) -> tuple[int, ...]:
    return parse_cpus(text) if text else ()


@pytest.mark.parametrize("name", TOPO)
def test_a_matrix_reads_as_a_person_reads_it(field_data: Path, name: str) -> None:
    row = TABLE[name]
    data: Any = parse_json("nvidia-smi-topo", _text(field_data, name), name)
    devices = list(data["links"])
    pairs = [(one, two, data["links"][one][two]) for at, two in enumerate(devices) for one in devices[:at]]
    assert len(data["gpus"]) == row["gpus"]
    assert [nic["device"] for nic in data["nics"]] == row["nics"]
    assert Counter(link for _, _, link in pairs) == row["links"]
    for link, named in row.get("near", {}).items():
        assert [f"{one}-{two}" for one, two, found in pairs if found == link] == named.split()
    beside = [tuple(run[1:]) for run in row["beside"] for _ in range(run[0])]
    assert [(gpu["cpu_affinity"], gpu["numa"], gpu["gpu_numa"]) for gpu in data["gpus"]] == beside
    assert all(data["links"][two][one] == link for one, two, link in pairs)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_glued_or_cut_off_is_refused_with_line_and_words(field_data: Path, name: str) -> None:
    kind, line, words = TABLE[name]["refused"]
    with pytest.raises(InputError) as caught:
        parse_json(kind, _text(field_data, name), name)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column > 0) == (line, True)
    assert words in problem.message
