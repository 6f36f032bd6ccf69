"""How many GPUs a node has, and which: slurm.conf, gres.conf and the health check's list say the same."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from slurmwright.conf import Statement
from slurmwright.core.cpu_list import fold_cpus, parse_cpus
from slurmwright.render.agree.view import Disagreement, NodeLine, Place, View, lines_of, members, shown

NODE_GPUS = "node_gpus.conf"
#: ((name, type or ""), count), sorted.
Gres = tuple[tuple[tuple[str, str], int], ...]
_DEVICE = re.compile(r"/dev/nvidia(\d+)\Z")


class _Group(NamedTuple):
    """Hosts of one node line that the same lines of gres.conf are about."""

    line: NodeLine | None
    gres: tuple[tuple[Statement, Place], ...]
    hosts: list[str]


def gpu_counts(view: View) -> Iterator[Disagreement]:
    """Gres of each node line against its lines of gres.conf; slurmd counts detected GPUs itself."""
    conf = view.conf("gres.conf")
    for group in _groups(view):
        promised = _promised(group.line.gres if group.line else "")
        has: Counter[tuple[str, str]] = Counter()
        detected = False
        for statement, _ in group.gres:
            detect = statement.get("AutoDetect")
            if detect is not None:
                detected = detected or detect.value.lower() != "off"
            name, kind, count = statement.get("Name"), statement.get("Type"), statement.get("Count")
            if name is not None:
                number = _number(count.value) if count else _file_count(statement) or 1
                has[name.value, kind.value if kind else ""] += number
        sides = [promised, tuple(sorted(has.items()))]
        sides = [_comparable(side, promised) for side in sides]
        if detected:
            sides = [tuple(row for row in side if row[0][0] != "gpu") for side in sides]
        if sides[0] != sides[1]:
            source = conf.file.source if conf else "gres.conf"
            at = ", ".join(f"line {place.line}" for _, place in group.gres[:3]) or "no line about them"
            where = group.line.place if group.line else group.gres[0][1]
            hosts = shown(group.hosts)
            unknown = "" if group.line else "no NodeName line has them, "
            yield Disagreement(
                where,
                f"{hosts}: {unknown}slurm.conf says {_said(sides[0])}, {source} {_said(sides[1])} ({at})",
                "slurm.conf:NodeName.Gres",
            )


def node_gpus(view: View) -> Iterator[Disagreement]:
    """The device numbers that a node's health check looks for are those that gres.conf names."""
    groups = _groups(view)
    for file in view.by_path.get(f"{view.folder}/{NODE_GPUS}", ()):
        listed, place = _listed(file.text), Place(file.source)
        for text, at in lines_of(file):
            if text.startswith("gpu_minors="):
                place = at
        for group in groups:
            hosts = [host for host in group.hosts if host in members(file.hosts)]
            named = {minor for statement, _ in group.gres for minor in _devices(statement)}
            # Detected GPUs are named by no line.
            if not hosts or listed == named or any(s.get("AutoDetect") for s, _ in group.gres):
                continue
            where = ", ".join(str(at) for _, at in group.gres[:2]) or "no line of gres.conf"
            yield Disagreement(
                place,
                f"{shown(hosts)}: the health check looks for GPU {_numbers(listed)}, but {where} names "
                f"{_numbers(named)}",
            )


def _groups(view: View) -> list[_Group]:
    conf = view.conf("gres.conf")
    lines: list[tuple[Statement, Place]] = []
    if conf is not None:
        lines = [row for key in ("NodeName", "Name", "AutoDetect") for row in conf.lines(key)]
    about: dict[str, list[int]] = {}
    for number, (statement, _) in enumerate(lines):
        nodes = statement.get("NodeName")
        for host in members(nodes.value) if nodes else view.line_of:
            about.setdefault(host, []).append(number)
    found: dict[tuple[int, tuple[int, ...]], list[str]] = {}
    at = {host: number for number, line in enumerate(view.node_lines) for host in line.hosts}
    for host in {**at, **about}:
        found.setdefault((at.get(host, -1), tuple(about.get(host, ()))), []).append(host)
    return [
        _Group(view.line_of.get(hosts[0]), tuple(lines[number] for number in numbers), hosts)
        for (_, numbers), hosts in found.items()
    ]


def _comparable(side: Gres, promised: Gres) -> Gres:
    """Counts without types where Slurm compares no types: of shares, and of a Gres that names none."""
    untyped = {name for (name, kind), _ in promised if not kind} | {"shard", "mps"}
    counts: Counter[tuple[str, str]] = Counter()
    for (name, kind), number in side:
        counts[name, "" if name in untyped else kind] += number
    return tuple(sorted(counts.items()))


def _promised(gres: str) -> Gres:
    """`gpu:h100:8,shard:64` by name and type; what no plain count is left out."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in filter(None, gres.split(",")):
        name, *kind = entry.split("(")[0].split(":")
        number = _number(kind.pop()) if kind and kind[-1][:1].isdigit() and kind[-1].isdigit() else 1
        counts[name, kind[0] if kind else ""] += number
    return tuple(sorted(counts.items()))


def _number(text: str) -> int:
    return int(text) if text.isdigit() else 0


def _devices(statement: Statement) -> tuple[int, ...]:
    """N of each /dev/nvidiaN of `File`, or of the one device that MultipleFiles make."""
    several = statement.get("MultipleFiles")
    if several is not None:
        found = [match for file in several.value.split(",") if (match := _DEVICE.match(file))]
        return (int(found[0][1]),) if found else ()
    pair = statement.get("File")
    before, bracket, inside = pair.value.partition("[") if pair else ("", "", "")
    if bracket and before == "/dev/nvidia":
        try:
            return parse_cpus(inside.rstrip("]"))
        except ValueError:
            return ()
    match = _DEVICE.match(before)
    return (int(match[1]),) if match else ()


def _file_count(statement: Statement) -> int:
    """How many devices the files of a line are; those of MultipleFiles are one together."""
    if statement.get("MultipleFiles") is not None:
        return 1
    pair = statement.get("File")
    if pair is None:
        return 0
    try:
        inside = [parse_cpus(part) for part in re.findall(r"\[([\d,-]+)\]", pair.value)]
    except ValueError:
        return 0
    outside = re.sub(r"\[[\d,-]+\]", "", pair.value)
    return outside.count(",") + 1 - len(inside) + sum(map(len, inside))


def _listed(text: str) -> set[int]:
    match = re.search(r'^gpu_minors="([\d ]*)"', text, re.MULTILINE)
    return {int(number) for number in match[1].split()} if match else set()


def _numbers(minors: set[int]) -> str:
    return fold_cpus(minors) or "none"


def _said(gres: Gres) -> str:
    return ",".join(f"{':'.join(filter(None, kind))}:{number}" for kind, number in gres) or "nothing"
