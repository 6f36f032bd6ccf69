"""A path inside a folder of evidence to where the file lies on the host, or to nothing for a captured output.

Files of /etc/slurm lie at the top, others by their path (`etc/enroot/enroot.conf`), outputs as `*.txt`,
`*.log` or below `facts/`; a folder that holds such files again is a host of that name.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from slurmwright.rules.config import FOLDER, PLAIN_FILES

#: First folders of a path on a host; `.config` is that of a user, as enroot's credentials lie in it.
ROOTS = frozenset(
    (
        "etc",
        "usr",
        "opt",
        "var",
        "run",
        "lib",
        "lib64",
        "home",
        "root",
        "srv",
        "dev",
        "sys",
        "proc",
        "tmp",
        "raid",
        ".config",
    )
)
CAPTURES = frozenset(("facts", "captures"))
_CAPTURED = (".txt", ".log", ".out", ".err")
_TELLTALE = frozenset((*PLAIN_FILES, "topology.yaml", "plugstack.conf"))
_GUESSES = (
    ("gres", "gres.conf"),
    ("cgroup", "cgroup.conf"),
    ("topology", "topology.conf"),
    ("slurmdbd", "slurmdbd.conf"),
    ("plugstack", "plugstack.conf"),
)


def host_path(relative: str) -> str | None:
    """Where a file of the folder lies on the host; None for a captured output."""
    parts = PurePosixPath(relative).parts
    if parts[0] in ROOTS:
        name = parts[-1]
        listing = name.endswith(".txt") and not name.endswith("environ.txt")
        return None if listing else "/" + relative
    if parts[0] in CAPTURES or relative.endswith(_CAPTURED) or relative == "inventory.yaml":
        return None
    return f"{FOLDER}/{relative}"


def hosts_in(paths: Iterable[str]) -> frozenset[str]:
    """The first folders that are hosts: they hold `etc/`, or files of Slurm's, once more."""
    found: set[str] = set()
    for path in paths:
        parts = PurePosixPath(path).parts
        if len(parts) < 2 or parts[0] in ROOTS or parts[0] in CAPTURES:
            continue
        if (parts[1] in ROOTS and len(parts) > 2) or (len(parts) == 2 and parts[1] in _TELLTALE):
            found.add(parts[0])
    return frozenset(found)


def single_path(name: str, text: str) -> str:
    """Where a file that is given alone lies on a host, by its name or, failing that, by what it holds."""
    known = {
        "enroot.conf": "/etc/enroot/enroot.conf",
        "nccl.conf": "/etc/nccl.conf",
        ".credentials": "/.config/enroot/.credentials",
    }
    if name in known:
        return known[name]
    if name in _TELLTALE or not name.endswith(".conf"):
        return f"{FOLDER}/{name}"
    lower = text[:20_000].lower()
    if "\nenroot_" in f"\n{lower}":
        return known["enroot.conf"]
    if "\nnccl_" in f"\n{lower}":
        return known["nccl.conf"]
    for word, file in _GUESSES:
        if word in name.lower():
            return f"{FOLDER}/{file}"
    if any(f"\n{key}=" in f"\n{lower}" for key in ("clustername", "slurmctldhost", "partitionname")):
        return f"{FOLDER}/slurm.conf"
    return f"{FOLDER}/{name}"


def slurm_folder(paths: Iterable[str]) -> str:
    """The folder of slurm.conf on the host: /etc/slurm where it is there, else where a slurm.conf lies."""
    folders = sorted(str(PurePosixPath(path).parent) for path in paths if path.endswith("/slurm.conf"))
    return FOLDER if FOLDER in folders or not folders else folders[0]
