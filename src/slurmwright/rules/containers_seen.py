"""enroot.conf, its environ.d and hooks.d, and plugstack.conf to settings with their places.

What surprises: enroot.conf is KEY and VALUE with blanks between, not KEY=VALUE; a variable that a hook
looks for may be set there or in any file of environ.d. Source: enroot's doc/configuration.md; Slurm's
spank(8).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import Place

ENROOT = "/etc/enroot/enroot.conf"
_LINE = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)(?:\s*=\s*|\s+|\s*\Z)(.*)")


class Value(NamedTuple):
    """One setting and where it stands."""

    text: str
    place: Place


class Spank(NamedTuple):
    """One line of plugstack.conf: `required` or `optional`, the plugin, its arguments; `kind` may be
    anything."""

    kind: str
    plugin: str
    arguments: tuple[str, ...]
    place: Place


def enroot_settings(seen: Evidence) -> dict[str, Value]:
    """Every setting of enroot.conf and enroot.conf.d, the last one counting; empty without a file."""
    found: dict[str, Value] = {}
    files = [seen.files[ENROOT]] if ENROOT in seen.files else []
    for file in [*files, *seen.under("/etc/enroot/enroot.conf.d")]:
        found |= _settings(file.text, file.path)
    return found


def has_enroot(seen: Evidence) -> bool:
    """Is enroot configured here at all?"""
    return ENROOT in seen.files


def container_environment(seen: Evidence) -> dict[str, Value]:
    """The variables that enroot's hooks find set for every container."""
    found = dict(enroot_settings(seen))
    for file in seen.under("/etc/enroot/environ.d"):
        found |= _settings(file.text, file.path)
    return found


def hooks(seen: Evidence) -> frozenset[str]:
    """The names of the hooks, from the files themselves or from a listing of the folder."""
    names = {file.path.rpartition("/")[2] for file in seen.under("/etc/enroot/hooks.d")}
    for name, file in seen.captures.items():
        if "hooks.d" in name:
            names |= {word.rpartition("/")[2] for word in file.text.split()}
    return frozenset(names)


def spank_lines(seen: Evidence) -> Iterator[Spank]:
    """Every line of plugstack.conf and of the files below plugstack.conf.d, includes left out."""
    folder = seen.config.folder
    main = seen.files.get(f"{folder}/plugstack.conf")
    for file in [*([main] if main else []), *seen.under(f"{folder}/plugstack.conf.d")]:
        for number, line in enumerate(file.text.split("\n"), 1):
            words = line.partition("#")[0].split()
            if words and words[0].lower() != "include":
                plugin = words[1] if len(words) > 1 else ""
                yield Spank(words[0].lower(), plugin, tuple(words[2:]), Place(file.path, number))


def _settings(text: str, path: str) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for number, line in enumerate(text.split("\n"), 1):
        match = _LINE.match(line[:4000]) if line.strip() and not line.lstrip().startswith("#") else None
        if match:
            found[match[1]] = Value(match[2].strip().strip("\"'"), Place(path, number))
    return found
