"""Two sides to what the new one says otherwise, by meaning: order, case, folding and written-out defaults are
no change.

The order of NodeName lines is none either: slurmctld sorts its nodes by name (_reorder_nodes_by_name in
src/slurmctld/read_config.c).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from slurmwright.catalogue.options import lookup
from slurmwright.conf.meaning import Difference, Said, differences, same
from slurmwright.conf.meaning.said import folded
from slurmwright.core.hosts import fold_in_order
from slurmwright.plan.gres import device_changes
from slurmwright.plan.raw import Raw
from slurmwright.plan.sides import GRES, MAIN, YAML, Side

#: Said of each host by itself, so that hosts never say the same.
_PER_HOST = ("nodeaddr", "nodehostname", "bcastaddr", "port")
_SECTIONS = {"node": "NodeName", "partition": "PartitionName"}
_ADDED, _REMOVED, _CHANGED = "added", "removed", "changed"
Words = Mapping[str, Said]


@dataclass(frozen=True)
class _Split:
    """A meaning by its subjects."""

    nodes: Mapping[str, Words]
    partitions: Mapping[str, Words]
    rest: Mapping[tuple[str, str, str], Said]


def raw_changes(old: Side, new: Side) -> Iterator[Raw]:
    """Every difference of Slurm's own files, nodes first."""
    texts = [{name: file.text for name, file in side.files.items()} for side in (old, new)]
    if texts[0] == texts[1] and old.bundle.release == new.bundle.release:
        return
    same_text = {name for name in texts[0] if texts[0][name] == texts[1].get(name)} - {MAIN, GRES}
    if texts[0].get(YAML) != texts[1].get(YAML):
        same_text.discard("topology.conf")
    left, right = _split(old, same_text), _split(new, same_text)
    yield from _nodes(left.nodes, right.nodes)
    common = [name for name in left.nodes if name in right.nodes]
    if any(texts[0].get(name) != texts[1].get(name) for name in (MAIN, GRES)):
        yield from device_changes(old.devices, new.devices, common)
    yield from _partitions(left.partitions, right.partitions)
    for one in differences(left.rest, right.rest):
        yield _setting(one)


def _split(side: Side, but: Collection[str]) -> _Split:
    nodes: dict[str, dict[str, Said]] = {}
    partitions: dict[str, dict[str, Said]] = {}
    rest = {}
    for key, said in side.meaning(but).items():
        kind, _, name = key[1].partition(" ")
        if key[0] == MAIN and kind == "node":
            nodes.setdefault(name, {})[key[2]] = said
        elif key[0] == MAIN and kind == "partition":
            partitions.setdefault(name, {})[key[2]] = said
        else:
            rest[key] = said
    return _Split(nodes, partitions, rest)


def _nodes(old: Mapping[str, Words], new: Mapping[str, Words]) -> Iterator[Raw]:
    for kind, here, there in ((_REMOVED, old, new), (_ADDED, new, old)):
        groups: dict[str, list[str]] = {}
        for name in here:
            if name not in there:
                groups.setdefault(_text(here[name], "NodeName"), []).append(name)
        for text, names in groups.items():
            one, two = (text, None) if kind == _REMOVED else (None, text)
            subject, rows = f"node {folded(names)}", (f"node-{kind}",)
            yield Raw(MAIN, subject, kind, one, two, nodes=tuple(names), rows=rows)
    yield from _changed_nodes(old, new)


def _changed_nodes(old: Mapping[str, Words], new: Mapping[str, Words]) -> Iterator[Raw]:
    alike: dict[tuple[str, str | None, str | None], list[str]] = {}
    for name, words in old.items():
        if name not in new or words == new[name]:
            continue
        other = new[name]
        for key in (*words, *(k for k in other if k not in words)):
            left, right = words.get(key), other.get(key)
            if not same((MAIN, f"node {name}", key), left, right):
                single = key in _PER_HOST
                group = (key, *((None, None) if single else (_normal(left), _normal(right))))
                alike.setdefault(group, []).append(name)
    for (key, _, _), names in alike.items():
        if key in _PER_HOST:
            one, two = (_in_order([side[name].get(key) for name in names]) for side in (old, new))
        else:
            one, two = (_written(side[names[0]].get(key)) for side in (old, new))
        spelled = _spelled(MAIN, "NodeName", key)
        keys = (f"{MAIN}:NodeName.{spelled}",)
        subject = f"node {folded(names)} {spelled}"
        yield Raw(MAIN, subject, _kind(one, two), one, two, nodes=tuple(names), keys=keys)


def _partitions(old: Mapping[str, Words], new: Mapping[str, Words]) -> Iterator[Raw]:
    for name in (*old, *(name for name in new if name not in old)):
        subject = f"partition {name}"
        if name not in new:
            text = _text(old[name], "PartitionName")
            yield Raw(MAIN, subject, _REMOVED, text, None, rows=("partition-removed",), partition=name)
        elif name not in old:
            text = _text(new[name], "PartitionName")
            yield Raw(MAIN, subject, _ADDED, None, text, rows=("partition-changed",), partition=name)
        else:
            words, other = old[name], new[name]
            for key in (*words, *(k for k in other if k not in words)):
                one, two = words.get(key), other.get(key)
                if not same((MAIN, subject, key), one, two):
                    spelled = _spelled(MAIN, "PartitionName", key)
                    yield Raw(
                        MAIN,
                        f"{subject} {spelled}",
                        _kind(one, two),
                        _written(one),
                        _written(two),
                        keys=(f"{MAIN}:PartitionName.{spelled}",),
                        partition=name,
                    )


def _setting(one: Difference) -> Raw:
    spelled = _spelled(one.file, "global", one.what)
    subject = f"{one.subject} {spelled}" if one.subject else spelled
    if one.subject and one.what == "line":
        subject, spelled = one.subject, one.subject.partition(" ")[0]
    old, new = _written(one.left), _written(one.right)
    return Raw(
        one.file,
        subject,
        _kind(old, new),
        old,
        new,
        keys=(f"{one.file}:{spelled}",),
        words=_words(one),
        unknown=not one.subject and lookup(one.file, "global", one.what) is None,
    )


def _words(one: Difference) -> frozenset[str]:
    """The words of a comma list that only one side has."""
    sides = [
        {word.strip().partition("=")[0].lower() for word in said.written.split(",")} if said else set()
        for said in (one.left, one.right)
    ]
    return frozenset(sides[0] ^ sides[1]) or frozenset(sides[0] & sides[1])


def _text(words: Words, section: str) -> str:
    """What is said of a new or former node or partition, but for what each host says for itself."""
    pairs = []
    for key, said in words.items():
        if key == "partitionname" or key in _PER_HOST:
            continue
        pairs.append(said.written if key == "cpus" else f"{_spelled(MAIN, section, key)}={said.written}")
    return " ".join(pairs)


def _spelled(file: str, section: str, key: str) -> str:
    option = lookup(file, section, key)
    return option.key if option else key


def _kind(old: object, new: object) -> str:
    return _ADDED if old is None else _REMOVED if new is None else _CHANGED


def _normal(said: Said | None) -> str | None:
    return said.normal if said else None


def _written(said: Said | None) -> str | None:
    return said.written if said else None


def _in_order(values: list[Said | None]) -> str | None:
    texts = [said.written for said in values if said]
    return fold_in_order(texts) if texts else None
