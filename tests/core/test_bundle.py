"""The bundle on disk: written whole or not at all, never over what it did not write, read back as it was."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from slurmwright.core import bundle as bundle_module
from slurmwright.core.bundle import Bundle, BundleFile, read_bundle, safe_relative
from slurmwright.core.errors import InputError


def made(text: str, *more: str) -> Bundle:
    names = ["slurm.conf", *more]
    return Bundle(
        "pod1",
        "24.11",
        tuple(
            BundleFile(f"/etc/slurm/{name}", f"etc/slurm/{name}", "ctl1", "root", "root", "0644", text)
            for name in names
        ),
    )


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


OLD, NEW = made("old\n", "gres.conf"), made("new\n")


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    OLD.write(tmp_path / "out")
    assert read_bundle(tmp_path / "out") == (Bundle("pod1", "24.11", tuple(sorted(OLD.files))), ())


def test_the_index_is_the_document_of_the_bundle(tmp_path: Path) -> None:
    NEW.write(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "bundle.json").read_text())
    assert document == NEW.as_json()
    assert list(document) == ["format", "cluster", "release", "files"]
    assert list(document["files"][0]) == ["path", "source", "hosts", "owner", "group", "mode", "sha256"]


def test_an_edited_file_is_read_and_named(tmp_path: Path) -> None:
    NEW.write(tmp_path / "out")
    (tmp_path / "out" / "etc" / "slurm" / "slurm.conf").write_text("mine\n")
    bundle, edited = read_bundle(tmp_path / "out")
    assert edited == ("etc/slurm/slurm.conf",)
    assert bundle.files[0].text == "mine\n"


def test_the_new_bundle_takes_the_place_of_the_old_whole(tmp_path: Path) -> None:
    OLD.write(tmp_path / "out")
    NEW.write(tmp_path / "out")
    assert set(content(tmp_path / "out")) == {"bundle.json", "etc/slurm/slurm.conf"}
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_is_followed_and_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "out").symlink_to("real")
    OLD.write(tmp_path / "out")
    NEW.write(tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert set(content(tmp_path / "real")) == {"bundle.json", "etc/slurm/slurm.conf"}
    assert sorted(os.listdir(tmp_path)) == ["out", "real"]


@pytest.mark.parametrize("step", ["write_text", "replace_tree"])
@pytest.mark.parametrize("fault", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_bundle_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, fault: BaseException
) -> None:
    OLD.write(tmp_path / "out")
    before = content(tmp_path / "out")

    def failing(*_arguments: object) -> None:
        raise fault

    monkeypatch.setattr(bundle_module.files, step, failing)
    with pytest.raises(InputError if isinstance(fault, OSError) else type(fault)) as caught:
        NEW.write(tmp_path / "out")
    if isinstance(fault, OSError):
        assert str(caught.value) == f"{tmp_path}/out: cannot be written: No space left on device"
    assert content(tmp_path / "out") == before
    assert os.listdir(tmp_path) == ["out"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from slurmwright.core import bundle, files
from slurmwright.core.bundle import Bundle, BundleFile
step, out = sys.argv[1], Path(sys.argv[2])
real = getattr(files, step)
def killed(*args):
    if step == "write_text":
        real(*args)
    os.kill(os.getpid(), signal.SIGKILL)
setattr(files, step, killed)
file = BundleFile("/etc/slurm/slurm.conf", "etc/slurm/slurm.conf", "c", "root", "root", "0644", "new")
Bundle("pod1", "24.11", (file,)).write(out)
"""


@pytest.mark.parametrize("step", ["write_text", "replace_tree"])
def test_a_killed_write_leaves_the_old_bundle_whole(tmp_path: Path, step: str) -> None:
    OLD.write(tmp_path / "out")
    before = content(tmp_path / "out")
    done = subprocess.run([sys.executable, "-c", _KILLED, step, str(tmp_path / "out")], check=False)
    assert done.returncode == -signal.SIGKILL
    assert content(tmp_path / "out") == before
    assert read_bundle(tmp_path / "out")[1] == ()
    NEW.write(tmp_path / "out")
    assert set(content(tmp_path / "out")) == {"bundle.json", "etc/slurm/slurm.conf"}


def _no_bundle(folder: Path) -> None:
    (folder / "thesis.tex").write_text("years of work")


def _foreign_file(folder: Path) -> None:
    NEW.write(folder)
    (folder / "etc" / "notes").write_text("mine")


def _foreign_link(folder: Path) -> None:
    NEW.write(folder)
    (folder / "home").symlink_to(folder.parent)


def _broken_index(folder: Path) -> None:
    (folder / "bundle.json").write_text("[]")


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (_no_bundle, "is not empty and holds no bundle.json; nothing is overwritten"),
        (_foreign_file, "holds etc/notes, which render did not write; move it away"),
        (_foreign_link, "holds home, which render did not write; move it away"),
        (_broken_index, "not a bundle index"),
    ],
)
def test_what_a_bundle_did_not_write_is_never_replaced(
    tmp_path: Path, prepare: Callable[[Path], None], words: str
) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    prepare(folder)
    before = content(folder)
    with pytest.raises(InputError, match=words):
        OLD.write(folder)
    assert content(folder) == before
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine")
    with pytest.raises(InputError, match="exists and is not a folder"):
        NEW.write(tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("place", [".", "..", "inner/.."])
def test_the_folder_one_stands_in_is_refused_even_when_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    (tmp_path / "a" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a")
    with pytest.raises(InputError, match="is where you stand"):
        NEW.write(Path(place))
    assert os.listdir(tmp_path / "a") == ["inner"]


@pytest.mark.parametrize("source", ["/etc/passwd", "../x", "a/../../x", "a b", "", "a\nb"])
def test_a_source_that_leads_out_of_the_folder_is_refused(source: str) -> None:
    with pytest.raises(InputError, match="leads out of the bundle"):
        safe_relative(source, "bundle.json")


def _edit(**changes: object) -> Callable[[dict[str, object]], object]:
    return lambda document: {**document, **changes}


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (_edit(format="other/1"), "format is 'other/1', expected 'slurmwright/bundle/1'"),
        (_edit(files=[{"source": "../../etc/shadow"}]), "leads out of the bundle"),
        (_edit(files=[{"source": "etc/slurm/none.conf"}]), "none.conf is missing"),
        (_edit(files=[{}]), r"not a bundle index: files\[0\] has no 'source'; render the bundle again"),
        (_edit(files={}), "not a bundle index: 'files' is no list of objects"),
        (_edit(files=[1]), "not a bundle index: 'files' is no list of objects"),
        (lambda _document: [], "not a bundle index: no object"),
    ],
)
def test_a_folder_that_is_no_bundle_is_one_line(
    tmp_path: Path, edit: Callable[[dict[str, object]], object], words: str
) -> None:
    NEW.write(tmp_path / "out")
    index = tmp_path / "out" / "bundle.json"
    index.write_text(json.dumps(edit(json.loads(index.read_text()))))
    with pytest.raises(InputError, match=words) as caught:
        read_bundle(tmp_path / "out")
    assert len(caught.value.problems) == 1


def test_an_index_that_is_no_json_is_one_line(tmp_path: Path) -> None:
    NEW.write(tmp_path / "out")
    (tmp_path / "out" / "bundle.json").write_text("{\n  oops\n")
    with pytest.raises(InputError, match=r"bundle\.json:2: not a bundle index: no JSON"):
        read_bundle(tmp_path / "out")


def test_line_breaks_of_an_edited_file_are_kept(tmp_path: Path) -> None:
    NEW.write(tmp_path / "out")
    (tmp_path / "out" / "etc/slurm/slurm.conf").write_bytes(b"new\r\n")
    bundle, edited = read_bundle(tmp_path / "out")
    assert (bundle.files[0].text, edited) == ("new\r\n", ("etc/slurm/slurm.conf",))


def test_a_file_in_another_encoding_is_named_with_its_line(tmp_path: Path) -> None:
    NEW.write(tmp_path / "out")
    file = tmp_path / "out" / "etc/slurm/slurm.conf"
    file.write_bytes(b"new\n# gr\xfcn\n")
    with pytest.raises(InputError) as caught:
        read_bundle(tmp_path / "out")
    assert str(caught.value) == f"{file}:2: byte 0xfc is not UTF-8; save the file as UTF-8"


def test_a_link_to_a_file_of_this_machine_is_not_followed(tmp_path: Path) -> None:
    NEW.write(tmp_path / "out")
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    file = tmp_path / "out" / "etc/slurm/slurm.conf"
    file.unlink()
    file.symlink_to(secret)
    with pytest.raises(InputError, match=r"slurm\.conf: is a link that leads out of the bundle"):
        read_bundle(tmp_path / "out")


def test_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is missing; expected a folder that `slurmwright render` wrote"):
        read_bundle(tmp_path / "none")


def test_a_file_is_found_by_its_path_on_the_host() -> None:
    assert OLD.find("/etc/slurm/gres.conf") == OLD.files[1]
    assert OLD.find("/etc/slurm/none.conf") is None


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("path", "etc/slurm/slurm.conf", "no plain absolute path"),
        ("path", "/etc/../../root/.bashrc", "no plain absolute path"),
        ("path", "/etc/slurm/$(reboot)", "no plain absolute path"),
        ("path", "/etc/slurm/a;b", "no plain absolute path"),
        ("mode", "u+s", "is not octal"),
        ("mode", "0999", "is not octal"),
        ("owner", "root; reboot", "two plain names"),
        ("group", "", "two plain names"),
        ("hosts", "gpu[1-", "not a host range"),
        ("hosts", "", "not a host range"),
    ],
)
def test_a_place_that_is_not_what_it_says_is_refused(
    tmp_path: Path, key: str, value: str, words: str
) -> None:
    NEW.write(tmp_path / "out")
    index = tmp_path / "out" / "bundle.json"
    document = json.loads(index.read_text())
    document["files"][0][key] = value
    index.write_text(json.dumps(document))
    with pytest.raises(InputError, match=words) as caught:
        read_bundle(tmp_path / "out")
    assert caught.value.problems[0].file == str(index)
