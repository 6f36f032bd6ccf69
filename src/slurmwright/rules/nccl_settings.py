"""nccl.conf, a dump of an environment or a job script to the settings of NCCL in it, with their lines.

nccl.conf is read by NCCL alone: no quotes, no export, no blanks around `=`. In a script the shell has taken
its quotes off before NCCL sees a value.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from slurmwright.catalogue.nccl_versions import NcclVersion
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.nccl_seen import CONF
from slurmwright.rules.nccl_topology_seen import seen_version, told
from slurmwright.rules.rule import Place

#: Where `nccl lint` lays what it was given: a dump of an environment, and a job script.
ENVIRON, SCRIPT = "/proc/self/environ", "/job.sh"

_NAME = r"(?:TORCH_)?NCCL_[A-Za-z0-9_]*"
_ASSIGNED = re.compile(rf"(?<![\w$])({_NAME})=(\"[^\"]*\"|'[^']*'|[^\s;&|)]*)", re.I)
_EXPORTED = re.compile(r"--export[= ](\S+)")
_RDMA = ("infiniband", "roce")


class NcclSetting(NamedTuple):
    """One variable with the value that NCCL would see."""

    name: str
    value: str
    place: Place

    @property
    def shown(self) -> str:
        return f"{self.name}={self.value}"


class Seen(NamedTuple):
    """The settings of one file: the first of a name counts in nccl.conf, the last elsewhere."""

    path: str
    settings: Mapping[str, NcclSetting]
    fabric: str
    version: NcclVersion
    text: str = ""

    @property
    def permanent(self) -> bool:
        """Does every job of the node read it?"""
        return self.path == CONF

    @property
    def rdma(self) -> bool:
        return self.fabric in _RDMA

    def value(self, name: str) -> str:
        found = self.settings.get(name)
        return found.value if found else ""

    def of(self, *names: str) -> Iterator[NcclSetting]:
        """The settings of these names that are not empty: an empty one counts as not set."""
        return (self.settings[name] for name in names if self.value(name))


def nccl_files(seen: Evidence) -> Iterator[Seen]:
    """Each file with settings of NCCL among what was read."""
    for path in (CONF, ENVIRON, SCRIPT):
        file = seen.files.get(path)
        if file is None:
            continue
        text = file.text
        lines = {CONF: _conf, ENVIRON: _environ, SCRIPT: _script}[path](text)
        found: dict[str, NcclSetting] = {}
        for number, name, value in lines:
            one = NcclSetting(name, value, Place(path, number))
            if path == CONF:
                found.setdefault(name, one)
            else:
                found[name] = one
        yield Seen(path, found, seen_fabric(seen), seen_version(seen), text)


def seen_fabric(seen: Evidence) -> str:
    """The fabric that was named: infiniband, roce, efa, tcp, or nothing."""
    fabric: Any = seen.inventory.get("fabric")
    kind = fabric.get("kind") if isinstance(fabric, Mapping) else fabric
    word = (told(seen, "fabric") or str(kind or "")).lower()
    return {"ethernet": "tcp", "ib": "infiniband", "none": ""}.get(word, word)


def kind_of(name: str, text: str) -> str:
    """Where a given file belongs: CONF, SCRIPT or ENVIRON."""
    if name.endswith(".conf"):
        return CONF
    start = text[:65536]
    if start.startswith("#!") or "#SBATCH" in start or name.endswith((".sh", ".sbatch", ".slurm", ".bash")):
        return SCRIPT
    return ENVIRON


def _conf(text: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        key, equals, value = line[:4095].partition("=")
        if equals and not key.startswith("#"):
            yield number, key.strip().removeprefix("export ").strip(), value.strip()


def _environ(text: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.replace("\0", "\n").split("\n"), 1):
        match = re.match(rf"(?:declare -x |export |\s*)({_NAME})=(.*)", line.rstrip("\r"), re.I)
        if match:
            quoted = line.startswith(("declare", "export")) and match[2][:1] in "\"'"
            yield number, match[1], _unquoted(match[2]) if quoted else match[2]


def _script(text: str) -> Iterator[tuple[int, str, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        line = line[:4095]
        if line.lstrip().startswith("#") and not line.startswith("#SBATCH"):
            continue
        for exported in _EXPORTED.findall(line):
            for part in _unquoted(exported).split(","):
                name, equals, value = part.partition("=")
                if equals and re.fullmatch(_NAME, name, re.I):
                    yield number, name, value
        for name, value in _ASSIGNED.findall(_EXPORTED.sub("", line)):
            yield number, name, _unquoted(value)


def _unquoted(text: str) -> str:
    """What the shell makes of a word; nothing where another variable stands in it."""
    if "$" in text or "`" in text:
        return ""
    try:
        return "".join(shlex.split(text, comments=False)) if text else ""
    except ValueError:
        return text.strip("\"'")


def told_list(seen: Evidence, key: str) -> tuple[str, ...]:
    """A list of the inventory's `nccl`: `adapters` of the node type, `compute` those of its rails."""
    nccl: Any = seen.inventory.get("nccl")
    found = nccl.get(key) if isinstance(nccl, Mapping) else None
    return tuple(map(str, found)) if isinstance(found, list | tuple) else ()
