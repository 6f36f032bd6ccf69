"""Every path that a file names leads to what the bundle brings or makes on the same hosts."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from slurmwright.core.bundle import BundleFile
from slurmwright.render.agree.gpus import NODE_GPUS
from slurmwright.render.agree.view import Disagreement, Place, Said, View, lines_of, members, shown
from slurmwright.render.folders import SYSTEM

#: Options whose program runs on every node, and those whose program runs on the controllers.
ON_NODES = ("Prolog", "Epilog", "HealthCheckProgram", "TaskProlog", "TaskEpilog", "RebootProgram")
ON_CONTROLLERS = (
    "PrologSlurmctld",
    "EpilogSlurmctld",
    "ResumeProgram",
    "ResumeFailProgram",
    "SuspendProgram",
)
_TMPFILES = "/etc/tmpfiles.d/slurmwright-{}.conf"
#: (file, option, whether the option names a folder, not a file in it, daemon)
_FOLDERS = (
    ("slurm.conf", "SlurmctldLogFile", False, "slurmctld"),
    ("slurm.conf", "SlurmSchedLogFile", False, "slurmctld"),
    ("slurm.conf", "SlurmctldPidFile", False, "slurmctld"),
    ("slurm.conf", "StateSaveLocation", True, "slurmctld"),
    ("slurm.conf", "SlurmdLogFile", False, "slurmd"),
    ("slurm.conf", "SlurmdPidFile", False, "slurmd"),
    ("slurm.conf", "SlurmdSpoolDir", True, "slurmd"),
    ("slurmdbd.conf", "LogFile", False, "slurmdbd"),
    ("slurmdbd.conf", "PidFile", False, "slurmdbd"),
)
_LOGS = (
    ("slurm.conf", "SlurmctldLogFile", "slurmctld"),
    ("slurm.conf", "SlurmdLogFile", "slurmd"),
    ("slurmdbd.conf", "LogFile", "slurmdbd"),
)


def programs(view: View) -> Iterator[Disagreement]:
    """Programs in the folder of slurm.conf are in the bundle, executable, and on every host that runs them;
    elsewhere they are the site's own."""
    nodes, servers = frozenset(view.line_of), frozenset(name for name, _, _ in view.controllers)
    for keys, hosts in ((ON_NODES, nodes), (ON_CONTROLLERS, servers)):
        for key in keys:
            for statement, place in view.main.lines(key):
                for word in (one.split()[0] for one in statement.pairs[0].value.split(",") if one.strip()):
                    path = posixpath.join(view.folder, word)
                    if posixpath.dirname(path) == view.folder:
                        yield from _program(view, Said(key, path, place), hosts)


def _program(view: View, said: Said, hosts: frozenset[str]) -> Iterator[Disagreement]:
    option = f"slurm.conf:{said.key}"
    found = [path for path in view.by_path if path == said.value or fnmatchcase(path, said.value)]
    if not found:
        message = f"{said.key} names {said.value}, which is not in the bundle; a node without it is drained"
        yield Disagreement(said.place, message, option, certain=False)
    for path in found:
        file = view.by_path[path][0]
        lacking = hosts - view.holders(path)
        if lacking:
            message = f"goes to {file.hosts}, but {said.key} ({said.place}) runs it on {shown(lacking)} too"
            yield Disagreement(Place(file.source), message, option)
        if not int(file.mode, 8) & 0o111:
            message = f"mode {file.mode} in bundle.json, but {said.key} ({said.place}) runs it"
            yield Disagreement(Place(file.source), message, option)


def scripts(view: View) -> Iterator[Disagreement]:
    """A script that reads a file beside it finds it on each of its hosts."""
    beside = f"{view.folder}/{NODE_GPUS}"
    for file in view.bundle.files:
        if posixpath.dirname(file.path) != view.folder or not file.path.endswith(".sh"):
            continue
        for text, place in lines_of(file):
            if f"/{NODE_GPUS}" in text and (lacking := members(file.hosts) - view.holders(beside)):
                message = f"reads {NODE_GPUS}, which bundle.json does not give to {shown(lacking)}"
                yield Disagreement(place, message)
                break


def folders(view: View) -> Iterator[Disagreement]:
    """Folders of logs, PID files and state are the system's, or made by a tmpfiles.d of the bundle."""
    for name, key, itself, daemon in _FOLDERS:
        conf = view.main if name == "slurm.conf" else view.conf(name)
        said = conf.get(key) if conf else None
        files = view.by_path.get(_TMPFILES.format(daemon), ())
        if said is None or not files or "%" in said.value or not said.value.startswith("/"):
            continue
        folder = posixpath.normpath(said.value if itself else posixpath.dirname(said.value))
        # State that controllers share is on storage that makes it.
        if folder in SYSTEM or (key == "StateSaveLocation" and len(view.controllers) > 1):
            continue
        if folder not in _made(files):
            message = f"{key} needs {folder}, which {files[0].source} does not make"
            yield Disagreement(said.place, message, f"{name}:{key}")
    yield from _node_disk(view)


def _node_disk(view: View) -> Iterator[Disagreement]:
    files = view.by_path.get(_TMPFILES.format("slurmd"), ())
    made = _made(files)
    for file in view.by_path.get("/etc/enroot/enroot.conf", ()) if files else ():
        for text, place in lines_of(file):
            key, _, value = text.partition(" ")
            folder = value.partition("/user-$(id -u)")[0]
            # Users' settings may lie on shared storage, which makes them.
            if key.endswith("_PATH") and key != "ENROOT_CONFIG_PATH" and folder not in made:
                message = f"{key} lies in {folder}, which {files[0].source} does not make"
                yield Disagreement(place, message)
    conf = view.conf("job_container.conf")
    said, auto = (conf.get("BasePath"), conf.get("AutoBasePath")) if conf else (None, None)
    by_itself = auto is not None and auto.value.lower() in ("true", "yes", "1", "up")
    if said is not None and files and not by_itself and said.value not in made:
        message = f"BasePath is {said.value}, which {files[0].source} does not make and slurmd neither"
        yield Disagreement(said.place, message)


def _made(files: tuple[BundleFile, ...]) -> set[str]:
    rows = [text.split() for file in files for text, _ in lines_of(file)]
    return {posixpath.normpath(row[1]) for row in rows if len(row) > 1 and row[0] == "d"}


def logs(view: View) -> Iterator[Disagreement]:
    """The log that is rotated is the log that is written."""
    for name, key, daemon in _LOGS:
        conf = view.main if name == "slurm.conf" else view.conf(name)
        said = conf.get(key) if conf else None
        for file in view.by_path.get(f"/etc/logrotate.d/{daemon}", ()):
            for text, place in lines_of(file):
                if not text.startswith("/"):
                    continue
                paths = text.rstrip("{").split()
                if said is None or said.value not in paths:
                    other = str(said) if said else f"no {key} is set"
                    message = f"rotates {' '.join(paths)}, but {daemon} writes elsewhere: {other}"
                    yield Disagreement(place, message, f"{name}:{key}")


def units(view: View) -> Iterator[Disagreement]:
    """What the drop-ins of systemd name: a script before slurmd, the folder of slurmctld's state."""
    state = view.main.get("StateSaveLocation")
    for path, files in view.by_path.items():
        if not path.startswith("/etc/systemd/system/"):
            continue
        for file in files:
            for text, place in lines_of(file):
                key, _, value = text.partition("=")
                if key == "RequiresMountsFor" and state is not None and state.value not in value.split():
                    message = f"waits for {value}, but the state is elsewhere: {state}"
                    yield Disagreement(place, message, "slurm.conf:StateSaveLocation")
                elif key.startswith("ExecStart"):
                    yield from _before(view, file, re.sub(r"^[-+!@:]*", "", value).split()[:1], place)


def _before(view: View, file: BundleFile, words: list[str], place: Place) -> Iterator[Disagreement]:
    for word in words:
        lacking = members(file.hosts) - view.holders(word)
        if posixpath.dirname(word) == view.folder and lacking:
            message = f"runs {word}, which bundle.json does not give to {shown(lacking)}"
            yield Disagreement(place, message)
