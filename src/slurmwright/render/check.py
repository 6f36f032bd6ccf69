"""Checks what was rendered before anyone sees it: pairs against the release, files against each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from slurmwright.catalogue.options import check_setting
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.hosts import expand, fold
from slurmwright.core.release import Release
from slurmwright.render.node_lines import PER_HOST
from slurmwright.render.rows import Line, Section

#: First key of a line → its section in the options catalogue; other lines are global settings.
_SECTIONS = {key: key for key in ("NodeName", "PartitionName", "SwitchName", "BlockName")}

Rendered = Mapping[str, tuple[Section, ...]]
#: ((name, type or ""), count) of everything that a node has, sorted.
Gres = tuple[tuple[tuple[str, str], int], ...]


def check_rendered(release: Release, files: Rendered) -> None:
    """Raise InputError for every pair that this release does not take, and for files that disagree."""
    problems = [*_unknown(release, files), *_disagreements(files)]
    if problems:
        raise InputError(Problem(name, 0, 0, text) for name, text in problems)


def _unknown(release: Release, files: Rendered) -> Iterator[tuple[str, str]]:
    for name, sections in files.items():
        for section in sections:
            for line in section.lines:
                where = "line" if name == "gres.conf" else _SECTIONS.get(line.pairs[0][0], "global")
                for key, value in line.pairs:
                    fault = check_setting(release, name, where, key, value)
                    if fault:
                        yield name, fault


def _disagreements(files: Rendered) -> Iterator[tuple[str, str]]:
    """Node, partition and gres lines against each other and against GresTypes."""
    nodes: dict[str, Gres] = {}
    listed: set[str] = set()
    for line in _lines(files, "slurm.conf"):
        pairs = dict(line.pairs)
        if "NodeName" in pairs:
            nodes.update(dict.fromkeys(expand(pairs["NodeName"]), _promised(pairs.get("Gres", ""))))
        elif pairs.get("Nodes", "ALL") != "ALL":
            strangers = [host for host in expand(pairs["Nodes"]) if host not in nodes]
            if strangers:
                yield (
                    "slurm.conf",
                    f"partition {pairs['PartitionName']} has {fold(strangers)}, no node line has",
                )
        listed.update(pairs.get("GresTypes", "").split(","))
    for name in sorted({name for gres in set(nodes.values()) for (name, _), _ in gres} - listed):
        yield "slurm.conf", f"nodes have {name} but GresTypes does not name it; Slurm would drop it"
    yield from _uncounted(list(_lines(files, "slurm.conf")))
    yield from _uneven(_lines(files, "slurm.conf"))
    yield from _miscounted(nodes, _lines(files, "gres.conf"))


def _uncounted(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """GPUs that are counted or billed where nothing counts them; seen on 22.05.8, 24.11.5 and 26.05.5."""
    pairs = [pair for line in lines for pair in line.pairs]
    if ("AccountingStorageType", "accounting_storage/slurmdbd") in pairs:
        return
    for key, value in pairs:
        if key in ("AccountingStorageTRES", "TRESBillingWeights") and "gres/" in value.lower():
            advice = "name its host, control: {database: HOST}, or leave the option out"
            yield "slurm.conf", f"{key}={value} stops slurmctld without slurmdbd; {advice}"


def _uneven(lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Lists of a node line that go by host: as many entries as hosts, or one, anything else is fatal to
    slurmctld (22.05.8, 24.11.5, 26.05.5)."""
    for line in lines:
        pairs = dict(line.pairs)
        for key in PER_HOST:
            value = pairs.get(key, "")
            if "NodeName" not in pairs or not set(value) & set("[,"):
                continue
            names, given = len(expand(pairs["NodeName"])), len(expand(f"n{value}"))
            if given not in (1, names):
                said = f"{key}={value} has {given} entries for {names} hosts"
                advice = "give one for each, and hosts that differ a group of their own"
                yield "slurm.conf", f"{pairs['NodeName']}: {said}; {advice}"


def _miscounted(nodes: Mapping[str, Gres], lines: Iterable[Line]) -> Iterator[tuple[str, str]]:
    """Hosts whose node line and gres lines say different numbers; detected GPUs are counted by slurmd."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    detected: set[str] = set()
    for line in lines:
        pairs = dict(line.pairs)
        hosts = expand(pairs["NodeName"])
        if "AutoDetect" in pairs:
            detected.update(hosts)
            continue
        number = int(pairs["Count"]) if "Count" in pairs else _files(pairs.get("File", ""))
        for host in hosts:
            found.setdefault(host, Counter())[pairs["Name"], pairs.get("Type", "")] += number
    wrong: dict[tuple[Gres, Gres], list[str]] = {}
    for host in {**nodes, **found}:
        has, promised = _sorted(found.get(host, Counter())), nodes.get(host, ())
        if host in detected:
            has, promised = (tuple(row for row in side if row[0][0] != "gpu") for side in (has, promised))
        if has != promised:
            wrong.setdefault((promised, has), []).append(host)
    for (promised, has), differing in wrong.items():
        yield "gres.conf", f"{fold(differing)}: slurm.conf says {_said(promised)}, gres.conf {_said(has)}"


def _promised(gres: str) -> Gres:
    """`gpu:h100:8,shard:64` by name and type."""
    counts: Counter[tuple[str, str]] = Counter()
    for entry in filter(None, gres.split(",")):
        name, *kind, number = entry.split(":")
        counts[name, kind[0] if kind else ""] += int(number)
    return _sorted(counts)


def _sorted(counts: Counter[tuple[str, str]]) -> Gres:
    return tuple(sorted(counts.items()))


def _files(text: str) -> int:
    """How many devices `/dev/nvidia[0-3]` names; MultipleFiles make one device."""
    _, bracket, inside = text.partition("[")
    return len(parse_cpus(inside.rstrip("]"))) if bracket else 1


def _said(gres: Gres) -> str:
    return ",".join(f"{':'.join(filter(None, kind))}:{number}" for kind, number in gres) or "nothing"


def _lines(files: Rendered, name: str) -> Iterator[Line]:
    for section in files[name]:
        yield from section.lines
