"""slurmutils, another program's reader of the same files, reads our files to the same values as conf does.

slurmutils (Canonical, LGPL-3.0-only, tests only) knows fewer keys and takes a narrower grammar than Slurm.
All that it cannot read stands in the tables below with its reason; a row that is not needed any more fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
import slurmutils.core.base
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from slurmutils import ModelError, cgroupconfig, gresconfig, slurmconfig, slurmdbdconfig

from slurmwright.conf import Statement, parse
from slurmwright.core.bundle import Bundle, read_bundle
from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES, Release
from slurmwright.model.load import cluster_from, load_cluster
from slurmwright.model.yaml_source import parse_yaml
from slurmwright.render import render

EXAMPLES = Path(__file__).parents[2] / "inventories"
NAMES = tuple(sorted(path.parent.name for path in EXAMPLES.glob("*/cluster.yaml")))
EDITORS = {
    "slurm.conf": slurmconfig,
    "gres.conf": gresconfig,
    "cgroup.conf": cgroupconfig,
    "slurmdbd.conf": slurmdbdconfig,
}
#: First key of a line → where slurmutils keeps such lines.
RECORDS = {"nodename": "nodes", "partitionname": "partitions", "name": "gres"}


class Lower(NamedTuple):
    """A key whose words slurmutils takes in lower case only; Slurm takes them in any case."""

    file: str
    key: str

    def reword(self, text: str) -> str:
        return re.sub(rf"(?m)(^|(?<= )){self.key}=\S+", lambda found: found[0].lower(), text)


class Reworded(NamedTuple):
    """Something else that slurmutils refuses, and the same said so that it reads it."""

    file: str
    found: str
    instead: str
    why: str

    def reword(self, text: str) -> str:
        return re.sub(self.found, self.instead, text)


class LeftOut(NamedTuple):
    """A key that slurmutils does not know, or whose value it can in no way read."""

    file: str
    key: str
    why: str

    def reword(self, text: str) -> str:
        return re.sub(rf"(?m)^{self.key}=.*\n|(?<=\S) {self.key}=\S+", "", text)


LOWER = tuple(
    Lower("slurm.conf", key)
    for key in (
        "EnforcePartLimits",
        "HealthCheckNodeState",
        "PriorityFlags",
        "PrologFlags",
        "PropagateResourceLimitsExcept",
        "SelectTypeParameters",
        "State",
    )
)
REWORDED = (
    Reworded("slurm.conf", r" Default=YES", " Default=True", "a partition's switches in Python's words only"),
    Reworded("gres.conf", r"(?m)^(NodeName=\S+) (Name=\S+)", r"\2 \1", "a line that begins with Name only"),
)
LEFT_OUT = (
    LeftOut("slurm.conf", "TopologyPlugin", "its schema wants a list where its reader gives text"),
    LeftOut("slurm.conf", "TRESBillingWeights", "numbers without a unit only"),
    LeftOut("slurm.conf", "NamespaceType", "a key of newer releases that it does not know"),
    LeftOut("slurm.conf", "Parameters", "a key of NodeName lines from 25.05 that it does not know"),
)
ROWS: tuple[Lower | Reworded | LeftOut, ...] = (*LOWER, *REWORDED, *LEFT_OUT)


@pytest.fixture(autouse=True, scope="module")
def _schemas_checked_once() -> Iterator[None]:
    """slurmutils checks its own schemas at every line it reads, which is ten times the work of reading."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slurmutils.core.base, "validate", _validate)
        yield


def _validate(instance: Any, schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator(schema).validate(instance)


class Text(NamedTuple):
    """One file of a bundle."""

    origin: str
    file: str
    text: str


def files_of(bundle: Bundle, origin: str) -> Iterator[Text]:
    for one in bundle.files:
        name = one.path.rpartition("/")[2]
        if name in EDITORS:
            yield Text(origin, name, one.text)


@cache
def texts() -> tuple[Text, ...]:
    """The golden files of every example, and what it renders to in other releases that can have it."""
    found = [one for name in NAMES for one in files_of(read_bundle(EXAMPLES / name / "rendered")[0], name)]
    for name in NAMES:
        for series in ("22.05", "23.11", "26.05"):
            try:
                bundle = render(load_cluster(EXAMPLES / name, Release(series)), {})
            except InputError:
                continue
            found += files_of(bundle, f"{name} {series}")
    return tuple({(one.file, one.text): one for one in reversed(found)}.values())


def reworded(one: Text, without: object = None) -> str:
    """The text as slurmutils can read it; `without` one row it may not."""
    text = one.text
    for row in ROWS:
        if row.file == one.file and row is not without:
            text = row.reword(text)
    return text


def differences(one: Text) -> list[str]:
    """Every value that the two readers see differently, and every key that only one of them sees."""
    read = EDITORS[one.file].loads(reworded(one)).dict()
    document = parse(one.text)
    assert document.problems == ()
    lines: dict[str, list[dict[str, str]]] = {}
    single: dict[str, list[str]] = {}
    for statement in document.statements:
        pairs = _pairs(statement, one.file)
        key = "name" if one.file == "gres.conf" and "name" in pairs else statement.key.lower()
        if key in RECORDS:
            lines.setdefault(RECORDS[key], []).append(pairs)
        elif pairs:
            single.setdefault(key, []).append(pairs[key])
    where = f"{one.origin} {one.file}"
    found = [f"{where}: only {who} sees {key}" for who, key in _alone(single | lines, read)]
    for key in single.keys() & read.keys():
        values = single[key] if isinstance(read[key], list) and len(single[key]) > 1 else single[key][-1]
        if not _same(values, read[key]):
            found.append(f"{where}: {key} is {values!r} and {read[key]!r}")
    for key, rows in lines.items():
        found += _different_lines(where, rows, _rows(read.get(key, ())))
    return found


def _pairs(statement: Statement, file: str) -> dict[str, str]:
    """Key in lower case → value, without what slurmutils cannot read."""
    lower = {row.key.lower() for row in LOWER if row.file == file}
    gone = {row.key.lower() for row in LEFT_OUT if row.file == file}
    pairs = {pair.key.lower(): pair.value for pair in statement.pairs}
    return {key: text.lower() if key in lower else text for key, text in pairs.items() if key not in gone}


def _alone(mine: dict[str, Any], read: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield from (("conf", key) for key in mine if key not in read)
    yield from (("slurmutils", key) for key in read if key not in mine)


def _rows(read: Any) -> list[dict[str, Any]]:
    """slurmutils keeps lines by name, and those of gres.conf as a list for each name."""
    groups = read.values() if isinstance(read, dict) else [read]
    return [row for group in groups for row in (group if isinstance(group, list) else [group])]


def _different_lines(where: str, mine: list[dict[str, str]], read: list[dict[str, Any]]) -> Iterator[str]:
    if len(mine) != len(read):
        yield f"{where}: {len(mine)} lines and {len(read)}"
    for row, other in zip(mine, read, strict=False):
        yield from (f"{where}: only {who} sees {key} in {row}" for who, key in _alone(row, other))
        for key in row.keys() & other.keys():
            if not _same(row[key], other[key]):
                yield f"{where}: {key} is {row[key]!r} and {other[key]!r} in {row}"


def _same(text: str | list[str], value: Any) -> bool:
    """Is this text that value? Numbers by what they count, switches by their meaning."""
    if isinstance(text, list):
        return text == value
    if isinstance(value, bool):
        return text.lower() in (("yes", "true") if value else ("no", "false"))
    if isinstance(value, list):
        words = text.split(",")
        return len(words) == len(value) and all(map(_same, words, value))
    if isinstance(value, dict):
        said = [word.partition("=") for word in text.split(",")]
        names = [name for name, _, _ in said]
        return names == list(value) and all(
            _same(word, value[name]) if sign else value[name] is True for name, sign, word in said
        )
    if isinstance(value, int | float):
        return re.fullmatch(r"\d+(\.\d+)?", text) is not None and float(text) == value
    return text == value


@pytest.mark.parametrize("name", NAMES)
def test_both_readers_see_the_same_values(name: str) -> None:
    of_example = [one for one in texts() if one.origin.split()[0] == name]
    assert {one.file for one in of_example} >= {"slurm.conf", "gres.conf", "cgroup.conf"}
    assert [line for one in of_example for line in differences(one)] == []


def test_slurmdbd_conf_is_among_the_files() -> None:
    assert any(one.file == "slurmdbd.conf" for one in texts())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.file}-{getattr(row, 'key', row[-1])}")
def test_every_row_of_the_tables_is_needed(row: Lower | Reworded | LeftOut) -> None:
    def fails(one: Text) -> bool:
        try:
            EDITORS[one.file].loads(reworded(one, without=row))
        except ModelError:
            return True
        return False

    assert any(fails(one) for one in texts() if one.file == row.file), f"slurmutils reads it now: drop {row}"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RealMemory=2022000", "RealMemory=2022001"),
        (" ThreadsPerCore=2", ""),
        ("Features=a100,mig", "Features=a100,migs"),
        ("bf_window=4320", "bf_window=4321"),
        ("MaxTime=8:00:00", "MaxTime=8:00:01"),
        ("ReturnToService=1\n", ""),
    ],
)
def test_one_changed_value_is_seen(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one = next(one for one in texts() if (one.origin, one.file) == ("mixed", "slurm.conf"))
    assert old in one.text
    read = slurmconfig.loads(reworded(one))
    monkeypatch.setitem(EDITORS, "slurm.conf", _Answer(read))
    assert differences(one) == []
    assert differences(one._replace(text=one.text.replace(old, new, 1))) != []


class _Answer:
    """An editor that has read another text."""

    def __init__(self, read: Any) -> None:
        self._read = read

    def loads(self, text: str) -> Any:
        return self._read


@st.composite
def clusters(draw: st.DrawFn) -> str:
    """A small cluster.yaml with options of all kinds: numbers, words, lists, tokens, several partitions."""
    release = draw(st.sampled_from(SERIES))
    kinds = ("dgx-h100", "dgx-a100-80gb", "aws-p5.48xlarge")
    nodes = [
        {"hosts": f"{name}[1-{draw(st.integers(2, 30))}]", "type": draw(st.sampled_from(kinds))}
        | ({"weight": draw(st.integers(1, 500))} if draw(st.booleans()) else {})
        | ({"features": ["ib", "big"]} if draw(st.booleans()) else {})
        for name in ("a", "b")[: draw(st.integers(1, 2))]
    ]
    few = {"name": "few", "nodes": {"hosts": nodes[0]["hosts"]}, "max_time": draw(st.integers(1, 10000))}
    partitions = [{"name": "all", "nodes": "all", "default": draw(st.booleans())}, few]
    overrides = {
        "SchedulerParameters": {"bf_max_job_test": draw(st.integers(1, 5000)), "assoc_limit_stop": True},
        "SlurmdTimeout": draw(st.integers(30, 60000)),
        "DebugFlags": draw(st.sampled_from([None, ["gres"], ["gres", "backfill"]])),
    }
    control: dict[str, Any] = {"controllers": ["c1", "c2"], "state_dir": "/shared/state"}
    if draw(st.booleans()):
        control["database"] = "db1"
    cluster = {"name": "drawn", "slurm": {"release": release}, "control": control, "nodes": nodes}
    return yaml.safe_dump({**cluster, "partitions": partitions, "overrides": {"slurm.conf": overrides}})


@settings(max_examples=25, deadline=None)
@given(clusters())
def test_drawn_clusters_read_alike(text: str) -> None:
    bundle = render(cluster_from(parse_yaml(text, "cluster.yaml")), {})
    assert [line for one in files_of(bundle, "drawn") for line in differences(one)] == []
