"""The plan as JSON: it alone rebuilds both sides, and no secret stands in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.bundle import Bundle, BundleFile, read_bundle
from slurmwright.core.errors import InputError
from slurmwright.plan import compare, digest, plan_json, read_plan
from slurmwright.plan.document import bundles_of, files_json

from .conftest import bundle_file, edited, lab

INVENTORIES = Path(__file__).parents[2] / "inventories"
KEYS = {
    *("format", "cluster", "release", "from", "to", "files", "changes", "steps"),
    *("hosts_contacted", "drain_first", "summary"),
}


def facts(bundle: Bundle) -> set[tuple[str, ...]]:
    return {(f.path, f.hosts, f.owner, f.group, f.mode, f.text) for f in bundle.files}


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)
FILES = st.dictionaries(
    st.sampled_from(["/etc/a", "/etc/slurm/gres.conf", "/etc/slurm/b.sh", "/opt/x/y"]),
    st.builds(
        BundleFile,
        path=st.just("/x"),
        source=st.just("x"),
        hosts=st.sampled_from(["ctl1", "gpu[1-4]", "gpu[1-5],login1"]),
        owner=st.sampled_from(["root", "slurm"]),
        group=st.sampled_from(["root", "slurm"]),
        mode=st.sampled_from(["0644", "0755"]),
        text=TEXTS,
    ),
    min_size=1,
)


@given(FILES, FILES)
@settings(max_examples=80, deadline=None)
def test_the_files_of_a_plan_rebuild_both_bundles(
    one: dict[str, BundleFile], two: dict[str, BundleFile]
) -> None:
    sides = [
        Bundle("lab", "24.11", tuple(sorted(replace(file, path=path) for path, file in files.items())))
        for files in (one, two)
    ]
    document = {"format": "slurmwright/plan/1", "cluster": "lab", "release": "24.11"}
    written = json.loads(json.dumps({**document, "files": files_json(*sides)}))
    again = bundles_of(written, "plan.json")
    assert [facts(bundle) for bundle in again] == [facts(bundle) for bundle in sides]
    assert [digest(bundle) for bundle in again] == [digest(bundle) for bundle in sides]


def written(tmp_path: Path, change: Callable[[dict[str, Any]], None] = lambda _: None) -> Path:
    base = lab()
    plan = compare(base, edited(base, "slurm.conf", ("RealMemory=1000", "RealMemory=900")))
    document = json.loads(json.dumps(plan_json(plan)))
    change(document)
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_a_plan_that_is_read_is_the_plan_that_was_made(tmp_path: Path) -> None:
    path = written(tmp_path)
    again = plan_json(read_plan(path))
    assert again == json.loads(path.read_text(encoding="utf-8"))
    assert set(again) == KEYS


def test_each_change_has_the_keys_of_the_format(tmp_path: Path) -> None:
    document = json.loads(written(tmp_path).read_text(encoding="utf-8"))
    for change in document["changes"]:
        assert set(change) == {"file", "subject", "kind", "old", "new", "effects", "source"}
        assert set(change["effects"]) == {"slurmctld", "slurmd", "slurmdbd", "drain_first"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="slurmwright/plan/9"), "format is 'slurmwright/plan/9'"),
        (lambda d: d.update(files=[]), "no list of files"),
        (lambda d: d["files"].append({"path": "/x"}), "is no file with path"),
        (lambda d: d["files"][0].update(new=3), "neither text nor null"),
        (lambda d: d["files"][0].update(path="/etc/../x"), "no plain absolute path"),
        (lambda d: d["files"][-1].update(new="x"), "'to' is not what follows"),
        (lambda d: d["steps"].pop(), "'steps' is not what follows"),
        (lambda d: d.update(release="19.05"), "not known"),
    ],
)
def test_a_plan_that_was_edited_is_refused(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_plan(written(tmp_path, change))


@pytest.mark.parametrize("text", ["", "[]", "{", "3", "[" * 100_000])
def test_what_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "plan.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is no plan"):
        read_plan(path)


def test_a_plan_that_is_missing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_plan(tmp_path / "plan.json")


@pytest.mark.parametrize("name", sorted(path.name for path in INVENTORIES.iterdir()))
def test_an_example_against_itself_has_nothing_to_do(name: str) -> None:
    bundle, _ = read_bundle(INVENTORIES / name / "rendered")
    plan = compare(bundle, bundle)
    assert (plan.changes, plan.steps, plan.hosts_contacted) == ((), (), ())
    assert digest(plan.old) == digest(plan.new)


def password(bundle: Bundle, word: str) -> Bundle:
    return edited(bundle, "slurmdbd.conf", ("@SLURMWRIGHT_STORAGE_PASSWORD@", word))


def test_no_secret_stands_in_a_plan(base: Bundle) -> None:
    proxy = bundle_file("/etc/enroot/environ.d/proxy.env", "https_proxy=http://me:hunter7@web:3128\n", "gpu1")
    old = replace(password(base, "hunter2"), files=(*password(base, "hunter2").files, proxy))
    text = json.dumps(plan_json(compare(old, password(base, "swordfish"))))
    assert not any(word in text for word in ("hunter2", "hunter7", "swordfish"))
    assert "StoragePass" in text


@pytest.mark.parametrize(
    ("old", "new", "changed"),
    [
        ("hunter2", "@SLURMWRIGHT_STORAGE_PASSWORD@", False),
        ("@SLURMWRIGHT_STORAGE_PASSWORD@", "hunter2", False),
        ("hunter2", "hunter2", False),
        ("hunter2", "swordfish", True),
        ('"hunter 2"', '"sword fish"', True),
    ],
)
def test_a_password_is_a_change_only_where_two_real_ones_differ(
    base: Bundle, tmp_path: Path, old: str, new: str, changed: bool
) -> None:
    plan = compare(password(base, old), password(base, new))
    assert [change.subject for change in plan.changes] == (["StoragePass"] if changed else [])
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan_json(plan)), encoding="utf-8")
    assert plan_json(read_plan(path)) == plan_json(plan)
