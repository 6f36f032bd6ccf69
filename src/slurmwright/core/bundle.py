"""The bundle: every file that a cluster's hosts get, as one value that can be written, read and compared.

Rendered, live and foreign files all load into this type. On disk it is a folder with `bundle.json` and the
files below it; paths in `bundle.json` are relative to the folder.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from slurmwright.core import files
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand

FORMAT = "slurmwright/bundle/1"
INDEX = "bundle.json"


@dataclass(frozen=True, order=True)
class BundleFile:
    """One file on some hosts. `path` is absolute on the host, `hosts` a folded range, `mode` octal text."""

    path: str
    source: str
    hosts: str
    owner: str
    group: str
    mode: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def as_json(self) -> dict[str, str]:
        return {
            "path": self.path,
            "source": self.source,
            "hosts": self.hosts,
            "owner": self.owner,
            "group": self.group,
            "mode": self.mode,
            "sha256": self.sha256,
        }


@dataclass(frozen=True)
class Bundle:
    """All files of one cluster for one Slurm release, sorted by path."""

    cluster: str
    release: str
    files: tuple[BundleFile, ...]

    def as_json(self) -> dict[str, object]:
        return {
            "format": FORMAT,
            "cluster": self.cluster,
            "release": self.release,
            "files": [f.as_json() for f in self.files],
        }

    def find(self, path: str) -> BundleFile | None:
        """The file that hosts hold at `path`, or None."""
        return next((f for f in self.files if f.path == path), None)

    def write(self, folder: Path) -> None:
        """Put the bundle in the place of `folder`: wholly or not at all.

        A folder that holds anything a bundle did not write is refused, and so is the folder one stands in,
        so that `-o .` can neither eat a home nor pull it from under a shell. A link is followed.
        """
        folder = folder.resolve()
        if folder.exists():
            _refuse_foreign(folder)
        try:
            self._replace(folder)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError.of(f"cannot be written: {reason}", str(folder)) from error

    def _replace(self, folder: Path) -> None:
        folder.parent.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        try:
            stage.chmod(0o755)
            for file in self.files:
                files.write_text(stage / file.source, file.text)
            files.write_text(stage / INDEX, json.dumps(self.as_json(), indent=2) + "\n")
            files.replace_tree(stage, folder)
        except BaseException:
            shutil.rmtree(stage, ignore_errors=True)
            raise


def read_bundle(folder: Path) -> tuple[Bundle, tuple[str, ...]]:
    """Load a bundle folder; also returns the sources that were edited since `bundle.json` was written."""
    index = folder / INDEX
    raw = _index(folder)
    if raw.get("format") != FORMAT:
        raise InputError.of(f"format is '{raw.get('format')}', expected '{FORMAT}'", str(index))
    edited: list[str] = []
    loaded: list[BundleFile] = []
    for at, row in enumerate(_rows(raw, index)):
        source = safe_relative(_word(row, "source", at, index), str(index))
        text = _text(folder, source)
        keys = ("path", "hosts", "owner", "group", "mode")
        file = BundleFile(source=source, text=text, **{k: _word(row, k, at, index) for k in keys})
        check_place(file, str(index))
        if file.sha256 != row.get("sha256"):
            edited.append(source)
        loaded.append(file)
    cluster, release = str(raw.get("cluster", "")), str(raw.get("release", ""))
    return Bundle(cluster, release, tuple(sorted(loaded))), tuple(edited)


def _index(folder: Path) -> dict[str, Any]:
    index = folder / INDEX
    text = _text(folder, INDEX)
    try:
        raw = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        raise InputError.of(
            "not a bundle index: no JSON; render the bundle again", str(index), line
        ) from error
    if not isinstance(raw, dict):
        raise InputError.of("not a bundle index: no object; render the bundle again", str(index))
    return raw


def _rows(raw: dict[str, Any], index: Path) -> list[dict[str, Any]]:
    rows = raw.get("files")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError.of(
            "not a bundle index: 'files' is no list of objects; render the bundle again", str(index)
        )
    return rows


def _word(row: dict[str, Any], key: str, at: int, index: Path) -> str:
    value = row.get(key)
    if not isinstance(value, str):
        raise InputError.of(
            f"not a bundle index: files[{at}] has no '{key}'; render the bundle again", str(index)
        )
    return value


def _text(folder: Path, source: str) -> str:
    """A file of the folder, with its own line breaks. A link could show any file of this machine."""
    path = folder / source
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
        data = path.read_bytes() if inside else b""
    except FileNotFoundError as error:
        raise InputError.of(
            f"{path} is missing; expected a folder that `slurmwright render` wrote", str(folder)
        ) from error
    except OSError as error:
        raise InputError.of(f"cannot be read: {error.strerror or error}", str(path)) from error
    if not inside:
        raise InputError.of("is a link that leads out of the bundle; put the file itself there", str(path))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError.of(
            f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8", str(path), line
        ) from error


def safe_relative(source: str, where: str) -> str:
    """Refuse a source that would lead out of the bundle folder."""
    path = PurePosixPath(source)
    if path.is_absolute() or ".." in path.parts or not re.match(r"[\w@./+-]+\Z", source):
        raise InputError.of(f"source '{source}' leads out of the bundle; expected a path below it", where)
    return source


def check_place(file: BundleFile, where: str) -> None:
    """Refuse what would be written elsewhere than it says, or read as a command, where the file is put."""
    wrong = ""
    if not re.match(r"/[\w@./+-]+\Z", file.path) or ".." in PurePosixPath(file.path).parts:
        wrong = f"path '{file.path}' is no plain absolute path"
    elif not re.match(r"[0-7]{3,4}\Z", file.mode):
        wrong = f"mode '{file.mode}' of {file.path} is not octal, such as 0644"
    elif not all(re.match(r"[\w.-]+\Z", name) for name in (file.owner, file.group)):
        wrong = f"owner '{file.owner}' and group '{file.group}' of {file.path} are not two plain names"
    try:
        expand(file.hosts)
    except InputError as error:
        wrong = f"hosts of {file.path}: {error}"
    if wrong:
        raise InputError.of(f"{wrong}; render the bundle again", where)


def _refuse_foreign(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError.of("exists and is not a folder; choose another output folder", str(folder))
    if Path.cwd().is_relative_to(folder):
        raise InputError.of(
            "is where you stand, and it is replaced as a whole; choose a folder in it", str(folder)
        )
    paths = folder.rglob("*")
    present = {str(p.relative_to(folder)) for p in paths if p.is_symlink() or not p.is_dir()}
    if not present:
        return
    if INDEX not in present:
        raise InputError.of(
            f"is not empty and holds no {INDEX}; nothing is overwritten: choose another folder", str(folder)
        )
    known = {INDEX} | {f.source for f in read_bundle_index(folder)}
    foreign = sorted(present - known)
    if foreign:
        raise InputError.of(
            f"holds {foreign[0]}, which render did not write; move it away or choose another folder",
            str(folder),
        )


def read_bundle_index(folder: Path) -> tuple[BundleFile, ...]:
    """The files that `bundle.json` lists, without their text (for a folder that may be half-edited)."""
    index = folder / INDEX
    try:
        rows = _rows(_index(folder), index)
        return tuple(
            BundleFile("", _word(row, "source", at, index), "", "", "", "", "") for at, row in enumerate(rows)
        )
    except InputError as error:
        problems = [
            replace(p, message=f"{p.message.split(';')[0]}; choose another folder") for p in error.problems
        ]
        raise InputError(problems) from error
