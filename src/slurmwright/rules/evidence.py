"""One host's files and captured outputs as one frozen value: what every check looks at.

Hosts with the same files are one `Evidence`, so that a fault is told once and not for each host.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from slurmwright.catalogue.options import lookup
from slurmwright.core.release import Release
from slurmwright.rules.config import Config
from slurmwright.rules.keys_seen import SeenKey, keys_seen


@dataclass(frozen=True)
class HostFile:
    """One file. `path` is where it lies on the host, `shown` what reports call it; owner, group and mode are
    empty where nobody looked. `source` is where `--fix` may write."""

    path: str
    shown: str
    text: str
    owner: str = ""
    group: str = ""
    mode: int | None = None
    source: Path | None = None


@dataclass(frozen=True)
class Evidence:
    """What is known of one host or of several equal ones, and the release to judge by.

    `captures` are outputs and logs by their name in the folder (`facts/ls.txt`); `whole` says that the folder
    is all there is, so that a file that is not here does not exist; `asked` is the release as it was given,
    `unread` what could not be read, and why.
    """

    files: Mapping[str, HostFile] = field(default_factory=dict)
    captures: Mapping[str, HostFile] = field(default_factory=dict)
    inventory: Mapping[str, Any] = field(default_factory=dict)
    config: Config = field(default_factory=Config)
    release: Release = Release("26.05")  # noqa: RUF009 - a frozen value
    asked: str = ""
    host: str = ""
    whole: bool = False
    unread: tuple[tuple[str, str], ...] = ()

    @property
    def keys(self) -> tuple[SeenKey, ...]:
        """Every key of every file with what the catalogue knows of it."""
        return self.config.remember("keys", lambda: keys_seen(self.config))

    def effective(self, key: str) -> str:
        """A key of slurm.conf in lower case, or what the release takes without one, where that is known."""
        option = lookup("slurm.conf", "global", key)
        default = option.default_in(self.release) if option else None
        return self.config.value(key, default or "").lower()

    @property
    def hands_out_memory(self) -> bool:
        """Is memory a consumable? cons_tres takes CR_Core_Memory where nothing is said
        (select_cons_tres.c)."""
        words = self.config.words("SelectTypeParameters")
        return any("memory" in word for word in words) if words else "cons" in self.effective("SelectType")

    def with_release(self, release: Release) -> Evidence:
        """The same files under another release; what was parsed is kept."""
        return replace(self, release=release)

    def capture(self, *names: str) -> HostFile | None:
        """The first capture whose name, without its folder, is one of these."""
        for name in names:
            for key, file in self.captures.items():
                if key.rpartition("/")[2].lower() == name.lower():
                    return file
        return None

    def under(self, folder: str) -> tuple[HostFile, ...]:
        """Every file below a folder of the host, sorted by path."""
        start = folder.rstrip("/") + "/"
        return tuple(file for path, file in sorted(self.files.items()) if path.startswith(start))
