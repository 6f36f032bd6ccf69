"""The module slurm_bundle on a folder of this machine: whole files or none, and what an older bundle left."""

from __future__ import annotations

import base64
import getpass
import grp
import hashlib
import importlib.util
import json
import os
import stat
import zlib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SOURCE = Path(__file__).parents[2] / "roles" / "slurm_files" / "library" / "slurm_bundle.py"


@pytest.fixture(scope="module")
def module() -> ModuleType:
    pytest.importorskip("ansible")
    spec = importlib.util.spec_from_file_location("slurm_bundle", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


class Host:
    """A folder that stands for a host, and pushes to it."""

    def __init__(self, module: ModuleType, root: Path) -> None:
        self.module, self.root, self.folder = module, root, root / "state"

    def entry(self, name: str, text: str, **more: Any) -> dict[str, Any]:
        group = grp.getgrgid(os.getgid()).gr_name
        return {
            "path": str(self.root / name),
            "owner": getpass.getuser(),
            "group": group,
            "mode": "0640",
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
            **more,
        }

    def push(self, texts: dict[str, str], check: bool = False, secrets: dict[str, str] | None = None) -> Any:
        """A whole run: placed, and the daemons told."""
        result = self.place(texts, check, secrets)
        if not check:
            Path(result["pending"]).unlink(missing_ok=True)
        return result

    def place(self, texts: dict[str, str], check: bool = False, secrets: dict[str, str] | None = None) -> Any:
        entries = [self.entry(name, text) for name, text in texts.items()]
        wanted = self.module.confirmed(entries, [text.encode() for text in texts.values()])
        self.module.stage(str(self.folder), wanted, secrets or {}, check)
        given = {"folder": str(self.folder), "secrets": secrets or {}, "units": [], "manifest": "files"}
        return self.module.place(given, wanted, check)


@pytest.fixture
def host(module: ModuleType, tmp_path: Path) -> Host:
    if os.geteuid() != 0:
        pytest.skip("files are given to their owners: needs root")
    return Host(module, tmp_path)


def test_files_come_with_their_mode_and_a_second_push_changes_nothing(host: Host) -> None:
    first = host.push({"etc/a.conf": "one\n", "b.sh": "two\n"})
    assert first["paths"] == [str(host.root / "etc/a.conf"), str(host.root / "b.sh")]
    assert (host.root / "etc/a.conf").read_text() == "one\n"
    assert stat.S_IMODE((host.root / "b.sh").stat().st_mode) == 0o640
    second = host.push({"etc/a.conf": "one\n", "b.sh": "two\n"})
    assert (second["changed"], second["paths"]) == (False, [])


def test_what_no_daemon_took_because_the_run_was_interrupted_is_told_by_the_next(host: Host) -> None:
    host.place({"a": "1", "b": "2"})
    again = host.place({"a": "1", "b": "3"})
    assert (again["changed"], again["paths"]) == (True, [str(host.root / "b"), str(host.root / "a")])
    Path(again["pending"]).unlink()
    assert not host.push({"a": "1", "b": "3"})["changed"]


def test_a_file_of_an_older_bundle_goes_unless_it_was_edited(host: Host) -> None:
    host.push({"old": "1", "edited": "2", "stays": "3"})
    (host.root / "edited").write_text("by hand")
    result = host.push({"stays": "3"})
    assert result["removed"] == [str(host.root / "old")]
    assert result["kept"] == [str(host.root / "edited")]
    assert not (host.root / "old").exists()
    assert (host.root / "edited").read_text() == "by hand"


def test_check_mode_shows_the_difference_and_touches_nothing(host: Host) -> None:
    host.push({"a": "one\n"})
    result = host.push({"a": "two\n"}, check=True)
    assert result["changed"]
    assert (result["diff"][0]["before"], result["diff"][0]["after"]) == ("one\n", "two\n")
    assert (host.root / "a").read_text() == "one\n"


def test_a_text_that_is_not_what_the_index_says_is_refused_before_any_file_is_placed(host: Host) -> None:
    entries = [host.entry("a", "one"), host.entry("b", "two")]
    with pytest.raises(host.module.RefusedError, match=r"b: the file has sha256 .*render the bundle again"):
        host.module.confirmed(entries, [b"one", b"three"])


def test_nothing_is_placed_when_one_staged_file_is_gone(host: Host) -> None:
    """As after a full disk or a hand in the folder between the two steps."""
    wanted = host.module.confirmed([host.entry("a", "1"), host.entry("b", "2")], [b"1", b"2"])
    host.module.stage(str(host.folder), wanted, {}, False)
    Path(host.module.staged_path(str(host.folder), wanted[1][0])).write_text("half")
    given = {"folder": str(host.folder), "secrets": {}, "units": [], "manifest": "files"}
    with pytest.raises(host.module.RefusedError, match="not staged as confirmed"):
        host.module.place(given, wanted, False)
    assert not (host.root / "a").exists()


def test_a_placeholder_is_filled_on_the_host_and_its_value_stands_nowhere_else(host: Host) -> None:
    texts = {"dbd.conf": "StoragePass=@PW@\n"}
    host.push(texts, secrets={"@PW@": "s3cr3t"})
    assert (host.root / "dbd.conf").read_text() == "StoragePass=s3cr3t\n"
    assert not host.push(texts, secrets={"@PW@": "s3cr3t"})["changed"]
    for path in host.folder.rglob("*"):
        assert path.is_dir() or "s3cr3t" not in path.read_text()


def test_an_owner_that_the_host_does_not_know_is_named(host: Host) -> None:
    entry = host.entry("a", "1", owner="nobody-here")
    wanted = host.module.confirmed([entry], [b"1"])
    host.module.stage(str(host.folder), wanted, {}, False)
    given = {"folder": str(host.folder), "secrets": {}, "units": [], "manifest": "files"}
    with pytest.raises(host.module.RefusedError, match=r"belongs to nobody-here:.*role base"):
        host.module.place(given, wanted, False)
    assert not (host.root / "a").exists()


def test_a_link_gives_way_and_its_target_is_left_alone(host: Host) -> None:
    (host.root / "target").write_text("mine")
    (host.root / "a").symlink_to(host.root / "target")
    host.push({"a": "new"})
    assert not (host.root / "a").is_symlink()
    assert (host.root / "target").read_text() == "mine"


def test_a_folder_in_the_place_of_a_file_is_named(host: Host) -> None:
    (host.root / "a").mkdir()
    with pytest.raises(host.module.RefusedError, match="is a folder on this host"):
        host.push({"a": "new"})


def test_the_packed_texts_come_out_as_they_went_in(module: ModuleType) -> None:
    texts = ["a\r\nb", "", "ä\n"]
    packed = base64.b64encode(zlib.compress(json.dumps(texts).encode())).decode()
    assert module.unpack(packed) == [text.encode() for text in texts]
