"""PATH to Evidence: an inventory, an /etc/slurm, one file, a rendered bundle, or a case folder.

Nothing here trusts what it reads: only regular files are opened, links are followed once, and sizes and
numbers are limited. What is left out for that is told, not passed over.
"""

from __future__ import annotations

import grp
import itertools
import os
import posixpath
import pwd
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from slurmwright.conf import parse
from slurmwright.core.bundle import INDEX, Bundle, read_bundle
from slurmwright.core.errors import InputError
from slurmwright.model.facts import check_facts, load_facts
from slurmwright.model.load import FILE as CLUSTER_FILE
from slurmwright.model.load import load_cluster
from slurmwright.model.plugin_builds import plugin_builds
from slurmwright.render import render
from slurmwright.rules.config import FOLDER, PLAIN_FILES, Config
from slurmwright.rules.evidence import Evidence, HostFile
from slurmwright.rules.places import host_path, hosts_in, single_path, slurm_folder

#: A larger file is not read: ten thousand nodes, a line each, are two megabytes.
MAX_BYTES = 8_000_000
MAX_TOTAL = 256_000_000
MAX_FILES = 5_000
MAX_DEPTH = 10
_PLUGINS = "facts/spank_plugins.txt"

_SKIPPED = frozenset((".git", ".venv", "node_modules", "__pycache__"))


class Reading(NamedTuple):
    """Every host's evidence, and the release that the files themselves tell."""

    hosts: tuple[Evidence, ...]
    release: str = ""


Unread = tuple[str, str]


def read_path(path: Path) -> Reading:
    """Read whatever PATH is; raises InputError where nothing of it can be read."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.of(f"cannot be read: {reason}", str(path)) from error
    if stat.S_ISDIR(mode):
        if (path / INDEX).is_file():
            bundle, _ = read_bundle(path)
            return from_bundle(bundle, path)
        return _inventory(path) if (path / CLUSTER_FILE).is_file() else _folder(path)
    if not stat.S_ISREG(mode):
        raise InputError.of("is no file and no folder; give an /etc/slurm, a file or an inventory", str(path))
    if path.name == CLUSTER_FILE:
        return _inventory(path)
    return _single(path)


def from_bundle(bundle: Bundle, folder: Path | None = None) -> Reading:
    """A bundle's files; where hosts have different files at one path, each variant is judged."""
    variants: dict[str, list[HostFile]] = {}
    for file in bundle.files:
        shown = str(folder / file.source) if folder else file.path
        one = HostFile(file.path, shown, file.text, file.owner, file.group, int(file.mode, 8))
        variants.setdefault(file.path, []).append(one)
    first = {path: found[0] for path, found in variants.items()}
    hosts = [_evidence(first, {}, {}, "", True)]
    hosts += [
        _evidence({**first, path: other}, {}, {}, "", True)
        for path, found in variants.items()
        if posixpath.basename(path) in PLAIN_FILES
        for other in found[1:]
    ]
    return Reading(tuple(hosts), bundle.release)


def _inventory(path: Path) -> Reading:
    cluster = load_cluster(path)
    facts = load_facts(path)
    check_facts(cluster, facts, path)
    reading = from_bundle(render(cluster, facts))
    rows = "".join(f"{one.hosts} {one.path} {one.built}\n" for one in plugin_builds(facts))
    seen = {_PLUGINS: HostFile(_PLUGINS, str(path / "facts"), rows)} if rows else {}
    return reading._replace(hosts=tuple(replace(one, captures=seen) for one in reading.hosts))


def _single(path: Path) -> Reading:
    """One file, and what it includes from beside it."""
    text, problem = _text(path)
    if text is None:
        raise InputError.of(problem, str(path))
    main = _host_file(single_path(path.name, text), path, text, str(path))
    if not path.suffix and posixpath.basename(main.path) not in PLAIN_FILES and "\0" in text:
        raise InputError.of("is no text; give a file of Slurm's, an /etc/slurm or an inventory", str(path))
    files = {main.path: main}
    if main.path.startswith(f"{FOLDER}/") and posixpath.basename(main.path) in PLAIN_FILES:
        for name in _include_names(text):
            beside = path.parent / posixpath.basename(name)
            found, _ = _text(beside)
            at = posixpath.normpath(posixpath.join(FOLDER, name))
            if found is not None and at not in files:
                files[at] = _host_file(at, beside, found, str(beside))
    return Reading((_evidence(files, {}, {}, "", False),))


def _include_names(text: str) -> Iterator[str]:
    return (include.name for include in parse(text).includes if include.name and "*" not in include.name)


def _folder(root: Path) -> Reading:
    texts: dict[str, tuple[Path, str]] = {}
    unread: list[Unread] = []
    total = 0
    for relative, path in _walk(root):
        text, problem = _text(path)
        if text is not None and len(texts) < MAX_FILES and total + len(text) <= MAX_TOTAL:
            texts[relative] = path, text
            total += len(text)
        elif text is not None:
            unread.append((str(root), f"holds more than is read here; {relative} and later files are not"))
            break
        elif problem:
            unread.append((str(path), problem))
    if not texts and unread:
        raise InputError.of("; ".join(why for _, why in unread[:3]), str(root))
    if not texts:
        raise InputError.of("holds no file; expected an /etc/slurm, a case folder or an inventory", str(root))
    names = sorted(hosts_in(texts))
    shared = {key: value for key, value in texts.items() if key.partition("/")[0] not in names}
    hosts = []
    for name in names or [""]:
        start = f"{name}/"
        own = {key[len(start) :]: value for key, value in texts.items() if name and key.startswith(start)}
        hosts.append(_from_texts({**shared, **own}, name, unread))
    hosts[0] = replace(hosts[0], unread=tuple(unread))
    return Reading(tuple(hosts), _told_release(hosts))


def _from_texts(texts: Mapping[str, tuple[Path, str]], host: str, unread: list[Unread]) -> Evidence:
    files: dict[str, HostFile] = {}
    captures: dict[str, HostFile] = {}
    inventory: Mapping[str, Any] = {}
    for relative, (path, text) in sorted(texts.items()):
        on_host = host_path(relative)
        if on_host is not None:
            files[on_host] = _host_file(on_host, path, text, str(path))
            continue
        captures[relative] = HostFile(relative, str(path), text)
        if relative == "inventory.yaml":
            inventory = _mapping(path, text, unread)
    return _evidence(files, captures, inventory, host, True)


def _evidence(
    files: Mapping[str, HostFile],
    captures: Mapping[str, HostFile],
    inventory: Mapping[str, Any],
    host: str,
    whole: bool,
) -> Evidence:
    config = Config({path: file.text for path, file in files.items()}, slurm_folder(files))
    return Evidence(files, captures, inventory, config, host=host, whole=whole)


def _mapping(path: Path, text: str, unread: list[Unread]) -> Mapping[str, Any]:
    try:
        # A few bytes of YAML can stand for gigabytes by aliases, which an inventory has no use for.
        raw = None if "&" in text and "*" in text else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        unread.append((str(path), f"is not YAML: {' '.join(str(error).split())[:200]}"))
        return {}
    return raw if isinstance(raw, dict) else {}


def _told_release(hosts: list[Evidence]) -> str:
    """The release that a captured `slurmd -V` or `scontrol version` names."""
    for seen in hosts:
        found = seen.capture("slurmd_-V.txt", "slurmctld_-V.txt", "scontrol_version.txt", "sinfo_-V.txt")
        if found is None:
            continue
        words = found.text.replace("slurm-wlm", "slurm").split()
        for before, word in itertools.pairwise(words):
            if before.lower() == "slurm" and word[:1].isdigit():
                return ".".join(word.split("-")[0].split(".")[:3])
    return ""


def _walk(root: Path) -> Iterator[tuple[str, Path]]:
    """Every regular file below a folder, in order, with its path inside it; a folder is entered once."""
    seen: set[tuple[int, int]] = set()
    count = 0
    for folder, names, files in os.walk(root, followlinks=True):
        try:
            status = os.stat(folder)
        except OSError:
            names[:] = []
            continue
        depth = len(Path(folder).relative_to(root).parts)
        if (status.st_dev, status.st_ino) in seen or depth >= MAX_DEPTH:
            names[:] = []
            continue
        seen.add((status.st_dev, status.st_ino))
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        for name in sorted(files):
            count += 1
            if count > MAX_FILES * 2:
                return
            path = Path(folder) / name
            yield path.relative_to(root).as_posix(), path


def _text(path: Path) -> tuple[str | None, str]:
    """The text of a regular file, or why it is not read; neither for what is no regular file."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return None, ""
        if status.st_size > MAX_BYTES:
            return None, f"is {status.st_size} bytes long; files of more than {MAX_BYTES} bytes are not read"
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None, "is a link to nothing" if path.is_symlink() else ""
    except OSError as error:
        return None, f"cannot be read: {error.strerror or error}"
    if len(data) > MAX_BYTES:
        return None, f"has no end; files of more than {MAX_BYTES} bytes are not read"
    return data.decode("utf-8", "surrogateescape"), ""


def _host_file(on_host: str, path: Path, text: str, shown: str) -> HostFile:
    """The file with its owner and mode where the folder is the host's own; a copy's owner tells nothing."""
    owner = group = ""
    mode: int | None = None
    if str(path.absolute()) == on_host:
        try:
            status = path.stat()
            owner, group, mode = _user(status.st_uid), _group(status.st_gid), stat.S_IMODE(status.st_mode)
        except OSError:
            pass
    return HostFile(on_host, shown, text, owner, group, mode, path)


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
