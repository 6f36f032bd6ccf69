"""Captured `ls`, `stat`, `findmnt` and `df` to what a path on the host is, as far as somebody looked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from slurmwright.rules.evidence import Evidence

_MISSING = re.compile(r"(?:ls: cannot access )?'?(/[^\s':]+)'?: No such file")
_FOLDER = re.compile(r"(/[^\s:]+):? +directory\b")
_OWNED = re.compile(r"(/[^\s:]+):?\s+([\w-]+):([\w-]+)\s+0?([0-7]{3,4})\b")
_MODE = re.compile(r"(\S+)\s+0([0-7]{3})\s*\Z")
_LONG = re.compile(r"([-dlcbsp])([rwxsStT-]{9})[.+]?\s+(?:\d+\s+(\S+)\s+(\S+)\s+.*\s)?(\S+)\s*\Z")
_NETWORK = ("nfs", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb", "weka", "wekafs", "panfs")


@dataclass(frozen=True)
class Entry:
    """One path. Owner, group and mode are empty where the output did not tell them."""

    path: str
    exists: bool = True
    folder: bool = False
    owner: str = ""
    group: str = ""
    mode: int | None = None


class Mount(NamedTuple):
    """One mount point, its type, and its size in bytes where `df` told it."""

    path: str
    kind: str
    size: float | None = None
    full: bool = False

    @property
    def over_network(self) -> bool:
        return self.kind.startswith(_NETWORK)


def entries(seen: Evidence) -> dict[str, Entry]:
    """What listings tell of each path; names without a folder are kept as they stand."""
    found: dict[str, Entry] = {}
    for name in ("ls.txt", "stat.txt", "ls_etc.txt", "ls_run.txt", "ls_etc_slurm.txt"):
        file = seen.capture(name)
        for line in file.text.split("\n") if file else ():
            entry = _entry(line.strip()[:2000])
            if entry:
                found[entry.path.rstrip("/") or "/"] = entry
    return found


def _entry(line: str) -> Entry | None:
    if match := _MISSING.match(line):
        return Entry(match[1], exists=False)
    if match := _OWNED.match(line):
        return Entry(match[1], owner=match[2], group=match[3], mode=int(match[4], 8))
    if match := _LONG.match(line):
        return Entry(match[5], True, match[1] == "d", match[3] or "", match[4] or "", _bits(match[2]))
    if match := _FOLDER.match(line):
        return Entry(match[1], folder=True)
    if match := _MODE.match(line):
        return Entry(match[1], mode=int(match[2], 8))
    return None


def _bits(text: str) -> int:
    """`rw-r--r--` → 0o644; the sticky and set bits are left out."""
    return sum(1 << (8 - at) for at, char in enumerate(text) if char not in "-ST")


def mounts(seen: Evidence) -> dict[str, Mount]:
    """Mount points by path, from `findmnt`, `/proc/mounts` and `df`."""
    found: dict[str, Mount] = {}
    for name in ("findmnt.txt", "proc_mounts.txt"):
        file = seen.capture(name)
        for line in file.text.split("\n") if file else ():
            words = line.split()
            if name == "proc_mounts.txt":
                words = words[1:]
            if len(words) > 1 and words[0].startswith("/"):
                found[words[0]] = Mount(words[0], words[1] if "/" not in words[1] else words[2])
    file = seen.capture("df.txt")
    for line in file.text.split("\n") if file else ():
        words = line.split()
        if len(words) == 6 and words[5].startswith("/") and words[4].endswith("%"):
            found[words[5]] = Mount(words[5], words[0], _size(words[1]), words[4] == "100%")
    return found


def mount_of(path: str, found: dict[str, Mount]) -> Mount | None:
    """The mount that a path lies on, as far as it was told."""
    best = [mount for point, mount in found.items() if f"{path}/".startswith(f"{point.rstrip('/')}/")]
    return max(best, key=lambda mount: len(mount.path), default=None)


def _size(text: str) -> float | None:
    match = re.match(r"(\d{1,12}(?:\.\d+)?)([KMGTP]?)i?B?\Z", text)
    if not match:
        return None
    power = " KMGTP".index(match[2]) if match[2] else 1
    return float(match[1]) * float(1024**power)
