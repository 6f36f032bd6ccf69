"""A folder with a slurm.conf to its parsed files; nothing outside the folder is opened.

A path that a file gives as `/etc/slurm/NAME` is looked for in the folder: a copy of a host's files is read
like the host's own.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from slurmwright.conf import Tree, read_tree
from slurmwright.core.errors import InputError, Problem

#: Ten thousand nodes, a line each, are two megabytes.
MAX_BYTES = 8_000_000
_NAMES = ("slurm.conf", "gres.conf", "cgroup.conf", "topology.conf", "slurmdbd.conf", "job_container.conf")
#: Files beside these that say something of their own and are not read here.
_UNREAD = (
    *("plugstack.conf", "acct_gather.conf", "helpers.conf", "mpi.conf", "oci.conf", "burst_buffer.conf"),
    *("namespace.yaml", "resources.yaml", "cli_filter.lua", "job_submit.lua"),
)
_ON_HOST = "/etc/slurm"


@dataclass(frozen=True)
class Source:
    """The files of one folder. `topology_yaml` is (text, file); `unread` are files that are left out."""

    folder: Path
    trees: Mapping[str, Tree]
    topology_yaml: tuple[str, str] | None
    unread: tuple[Path, ...]

    @property
    def slurm(self) -> Tree:
        return self.trees["slurm.conf"]

    def shown(self, file: str, line: int) -> str:
        """A place as a comment names it."""
        name = file.removeprefix(f"{self.folder.as_posix()}/").removeprefix(f"{_ON_HOST}/")
        return f"{name}:{line}" if line else name


def read_source(path: Path) -> Source:
    """Read a folder, or the folder of a slurm.conf; InputError for what Slurm itself could not read."""
    folder = path if path.is_dir() else path.parent
    if not (folder / "slurm.conf").is_file() and (folder / "etc/slurm/slurm.conf").is_file():
        folder = folder / "etc/slurm"
    if not folder.is_dir() or not (folder / "slurm.conf").exists():
        raise InputError.of("holds no slurm.conf; expected an /etc/slurm or a copy of one", str(path))
    refused: list[Problem] = []

    def read(name: str) -> str | None:
        return _text(folder, name, refused)

    trees = {}
    for name in _NAMES:
        tree = read_tree(f"{folder.as_posix()}/{name}", read)
        if tree is not None:
            trees[name] = tree
    network = read(f"{folder.as_posix()}/topology.yaml")
    problems = [*refused, *(problem for tree in trees.values() for problem in _problems(tree))]
    if problems:
        raise InputError(problems)
    return Source(
        folder,
        trees,
        (network, f"{folder.as_posix()}/topology.yaml") if network is not None else None,
        tuple(folder / name for name in _UNREAD if (folder / name).exists()),
    )


def _text(folder: Path, name: str, refused: list[Problem]) -> str | None:
    path = Path(name)
    if name.startswith(f"{_ON_HOST}/") and not path.is_relative_to(folder):
        path = folder / name[len(_ON_HOST) + 1 :]
    if not path.is_relative_to(folder) or ".." in path.parts[len(folder.parts) :]:
        return None
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            message = f"is no file of at most {MAX_BYTES} bytes; expected a text file of Slurm's"
            refused.append(Problem(str(path), 0, 0, message))
            return None
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        refused.append(Problem(str(path), 0, 0, f"cannot be read: {reason}"))
        return None


def _problems(tree: Tree) -> Iterator[Problem]:
    """Lines and includes with which no daemon starts: what they were meant to say nobody can know."""
    for doc in tree.documents:
        yield from doc.problems
    for fault in tree.faults:
        if fault.kind.startswith("not-beside"):
            continue
        reasons = {
            "missing": "is not in this folder; copy it here",
            "loop": "includes itself; take the line out",
            "pattern": "is a pattern, which Slurm does not follow; name the file",
            "cluster-name": "needs ClusterName in a line before it",
            "many": "brings more files or text than is read here",
        }
        message = f"Include {fault.name} {reasons.get(fault.kind, 'cannot be followed')}"
        yield Problem(fault.doc.file, fault.line, 0, message)
