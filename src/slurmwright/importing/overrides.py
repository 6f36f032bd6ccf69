"""Settings of the source against those that render would write, to the overrides that make them equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.catalogue.options import lookup
from slurmwright.conf import Tree
from slurmwright.conf.meaning import Said, same
from slurmwright.conf.meaning.settings import collected, settings_of
from slurmwright.conf.values import RECORD_KEYS
from slurmwright.core.bundle import Bundle
from slurmwright.core.release import Release
from slurmwright.importing.control import accounts
from slurmwright.importing.draft import Listed, left_out, plain
from slurmwright.importing.nodes import NUMA_SOCKET
from slurmwright.importing.rendered import trees_of
from slurmwright.importing.source import Source
from slurmwright.importing.yaml_text import Noted

FILES = ("slurm.conf", "cgroup.conf", "slurmdbd.conf")
#: (file, key in lower case) → the key as written and what stands for it in cluster.yaml.
Overrides = dict[tuple[str, str], tuple[str, Noted]]
#: Old names of what `control` says, and secrets that other words hold.
_NEVER = frozenset(
    (
        *("storagepass", "slurmctldhost", "controlmachine", "controladdr", "backupcontroller", "backupaddr"),
        "clustername",
    )
)


@dataclass(frozen=True)
class _Raw:
    """A setting as it stands in the source."""

    key: str
    value: str
    file: str
    line: int


def compared(source: Source) -> tuple[str, ...]:
    """The files whose settings are made equal. One that is not here means Slurm's defaults, slurmdbd.conf
    apart: that may lie on another host."""
    with_database = "slurmdbd.conf" in source.trees and accounts(source)
    return tuple(name for name in FILES if name != "slurmdbd.conf" or with_database)


def needed(source: Source, bundle: Bundle, release: Release, refused: set[tuple[str, str]]) -> Overrides:
    """What must be overridden so that `bundle` says what the source says; `refused` cannot be."""
    ours = trees_of(bundle)
    by_yaml = source.topology_yaml is not None and release.at_least("25.05")
    found: Overrides = {}
    for name in compared(source):
        tree = source.trees.get(name)
        theirs = dict(settings_of(name, tree, release)) if tree else {}
        have = dict(settings_of(name, ours[name], release)) if name in ours else {}
        raw = {one.key.lower(): one for one in _raw(tree)} if tree else {}
        for key in [*theirs, *(key for key in have if key not in theirs)]:
            word = key[2]
            one, other = theirs.get(key), have.get(key)
            left = word in _NEVER or (by_yaml and word == "topologyplugin")
            if left or (name, word) in refused or same(key, one, other):
                continue
            found[name, word] = _override(source, name, word, raw.get(word), other)
    return found


def several(source: Source, release: Release) -> Iterator[tuple[tuple[str, str], Listed]]:
    """Settings that Slurm takes from several lines; an override has one value only."""
    for name in compared(source):
        counted: dict[str, list[_Raw]] = {}
        for one in _raw(source.trees.get(name)):
            counted.setdefault(one.key.lower(), []).append(one)
        for word, lines in counted.items():
            if len(lines) > 1 and collected(word, release) and word not in _NEVER:
                values = ", ".join(one.value for one in lines)
                message = (
                    f"{lines[0].key} stands in {len(lines)} lines ({values}), and overrides hold one value"
                )
                fix = "have one script run the others"
                yield (name, word), Listed(left_out(message, lines[0].file, lines[0].line, fix))


def _raw(tree: Tree | None) -> Iterator[_Raw]:
    for doc, statement in tree.lines if tree else ():
        if statement.pairs and statement.key.lower() not in RECORD_KEYS:
            yield _Raw(statement.key, statement.pairs[0].value, doc.file, statement.line)


def _override(source: Source, name: str, word: str, raw: _Raw | None, ours: Said | None) -> tuple[str, Noted]:
    option = lookup(name, "global", word)
    if raw is None:
        return (option.key if option else word), Noted(None, "not in the source")
    note = source.shown(raw.file, raw.line)
    value = plain(raw.value)
    if word == "slurmdparameters" and ours is not None and NUMA_SOCKET in ours.normal:
        value = _tokens(raw.value)
    return (option.key if option else raw.key), Noted(value, note)


def _tokens(text: str) -> Mapping[str, object]:
    """`a,b=1` as words to add to what stands there already."""
    words = [word.strip() for word in text.split(",") if word.strip() and word.strip().lower() != NUMA_SOCKET]
    return {
        name: plain(value) if sign else True for name, sign, value in (word.partition("=") for word in words)
    }
