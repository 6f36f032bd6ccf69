"""Facts in JSON: the quick reader and the one with lines agree, and an edited file is always seen."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.model.facts import CpuFact, GpuFact, HostFacts, MemoryFact, NumaFact, load_facts
from slurmwright.model.facts_json import facts_text, own_parts, read_json

gpus = st.lists(
    st.builds(
        GpuFact,
        pci=st.integers(0, 255).map(lambda bus: f"0000:{bus:02x}:00.0"),
        minor=st.integers(0, 20),
        numa=st.none() | st.integers(0, 2),
        model=st.none() | st.text(st.characters(min_codepoint=32, max_codepoint=0x24F), max_size=12),
        mig=st.none(),
    ),
    max_size=4,
).map(tuple)
cpus = st.builds(
    lambda threads, lists: CpuFact(
        threads_per_core=threads,
        numa=tuple(NumaFact(id=at, socket=at, cpus=text) for at, text in enumerate(lists)),
    ),
    st.integers(1, 2),
    st.lists(st.sampled_from(["0-3", "4-7", "0-6:2", "8-11"]), min_size=1, max_size=3),
)
facts = st.builds(
    HostFacts,
    format=st.just("slurmwright/facts/1"),
    host=st.sampled_from(["gpu1", "gpu2", "2", "no"]),
    cpu=st.none() | cpus,
    memory=st.none() | st.integers(1, 5).map(lambda mb: MemoryFact(real_memory_mb=mb)),
    gpus=st.none() | gpus,
    nics=st.none(),
)


def outcome(text: str, suffix: str) -> HostFacts | list[str]:
    """What one file gives: its facts, or its faults without the file's name."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "facts").mkdir()
        host = json.loads(text)["host"]
        (Path(folder) / f"facts/{host}.{suffix}").write_text(text, encoding="utf-8")
        try:
            return load_facts(Path(folder))[host]
        except InputError as error:
            return [problem.message.replace(suffix, "") for problem in error.problems]


@settings(max_examples=80, deadline=None)
@given(facts)
def test_both_readers_give_the_same_facts_or_the_same_faults(drawn: HostFacts) -> None:
    text = facts_text(drawn)
    # A comment is YAML and no JSON: this text goes to the reader with lines.
    assert outcome(text, "json") == _outcome_by_yaml(text)


def _outcome_by_yaml(text: str) -> HostFacts | list[str]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "facts").mkdir()
        host = json.loads(text)["host"]
        (Path(folder) / f"facts/{host}.yaml").write_text(text + "# end\n", encoding="utf-8")
        assert read_json(text + "# end\n") is None
        try:
            return load_facts(Path(folder))[host]
        except InputError as error:
            return [problem.message.replace("yaml", "") for problem in error.problems]


@settings(max_examples=40, deadline=None)
@given(st.lists(facts, min_size=2, max_size=4))
def test_hosts_that_share_a_text_have_the_facts_they_have_alone(drawn: list[HostFacts]) -> None:
    named = [one.model_copy(update={"host": f"n{at}"}) for at, one in enumerate([*drawn, drawn[0]])]
    valid = [one for one in named if not isinstance(outcome(facts_text(one), "json"), list)]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "facts").mkdir()
        for one in valid:
            (Path(folder) / f"facts/{one.host}.json").write_text(facts_text(one), encoding="utf-8")
        assert load_facts(Path(folder)) == {one.host: one for one in valid}


def _write(folder: Path, host: str, minor: int) -> Path:
    path = folder / f"facts/{host}.json"
    path.parent.mkdir(exist_ok=True)
    gpu = GpuFact(pci="0000:1b:00.0", minor=minor, numa=None, model=None, mig=None)
    path.write_text(
        facts_text(
            HostFacts(format="slurmwright/facts/1", host=host, cpu=None, memory=None, gpus=(gpu,), nics=None)
        ),
        encoding="utf-8",
    )
    return path


def _minors(folder: Path) -> list[int]:
    return [gpu.minor for one in load_facts(folder).values() for gpu in one.gpus or ()]


def test_an_edited_file_is_seen_though_its_size_and_time_are_the_same(tmp_path: Path) -> None:
    path = _write(tmp_path, "gpu1", 1)
    _write(tmp_path, "gpu2", 1)
    before = path.stat()
    assert _minors(tmp_path) == [1, 1]
    _write(tmp_path, "gpu1", 2)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert _minors(tmp_path) == [2, 1]


def test_reading_facts_writes_nothing(tmp_path: Path) -> None:
    _write(tmp_path, "gpu1", 1)
    load_facts(tmp_path)
    assert [path.name for path in sorted(tmp_path.rglob("*"))] == ["facts", "gpu1.json"]


def test_equal_hosts_share_their_gpus(tmp_path: Path) -> None:
    _write(tmp_path, "gpu1", 1)
    _write(tmp_path, "gpu2", 1)
    found = load_facts(tmp_path)
    assert found["gpu1"].gpus is found["gpu2"].gpus
    assert [one.host for one in found.values()] == ["gpu1", "gpu2"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"minor": 1', '"minor": -1', "gpu1.json:7:13: "),
        ('"minor": 1', '"minor": 1, "minor": 1', "gpu1.json:7:16: "),
        ('"host": "gpu1"', '"host": "gpu2"', "gpu1.json:3:10: host is 'gpu2' but the file is gpu1.json"),
        ('"minor": 1', '"minor": NaN', "gpu1.json:7:13: "),
        ('"minor": 1', '"mjnor": 1', "did you mean 'minor'?"),
        ("}\n", "", "gpu1.json"),
    ],
)
def test_a_fault_in_json_has_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    path = _write(tmp_path, "gpu1", 1)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_facts(tmp_path)
    assert said in str(error.value)


def test_two_files_for_one_host_are_refused(tmp_path: Path) -> None:
    path = _write(tmp_path, "gpu1", 1)
    path.with_suffix(".yaml").write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    with pytest.raises(InputError, match=r"gpu1\.yaml: gpu1\.json holds facts of the same host; keep one"):
        load_facts(tmp_path)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"host": "a1", "x": 1}', ("a1", None, '{"host": "\n", "x": 1}')),
        ('{"host": "a1", "real_memory_mb": 70}', ("a1", 70, '{"host": "\n", "real_memory_mb": \n}')),
        ('{"host": "a1", "real_memory_mb": 7.5}', ("a1", None, '{"host": "\n", "real_memory_mb": 7.5}')),
        ('{"host": "a1", "real_memory_mb": 0}', ("a1", None, '{"host": "\n", "real_memory_mb": 0}')),
        ('{"host": "a1", "real_memory_mb": 7, "real_memory_mb": 8}', None),
        ('{"host": "a1", "host": "a2"}', None),
        ('{"x": "\\"host\\": \\"a1\\""}', None),
        ("{}", None),
    ],
)
def test_only_keys_with_their_values_are_cut_out(
    text: str, found: tuple[str, int | None, str] | None
) -> None:
    assert own_parts(text) == found


def test_hosts_that_differ_in_memory_share_their_gpus_and_keep_their_memory(tmp_path: Path) -> None:
    for host, memory in (("gpu1", 100), ("gpu2", 200), ("gpu3", 0)):
        path = _write(tmp_path, host, 1)
        data = json.loads(path.read_text(encoding="utf-8"))
        data |= {"memory": {"real_memory_mb": memory}} if memory else {}
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")
    found = load_facts(tmp_path)
    assert [one.memory and one.memory.real_memory_mb for one in found.values()] == [100, 200, None]
    assert found["gpu1"].gpus is found["gpu2"].gpus
