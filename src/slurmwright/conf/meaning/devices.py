"""gres.conf to the devices of each node, one by one and in the order in which Slurm counts them.

What surprises: a line without NodeName holds for every node that has the resource; an AutoDetect on a node's
own line goes before the file's (gres.c, _parse_gres_config2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slurmwright.conf.meaning.nodes import gres_entries, pairs_of
from slurmwright.conf.meaning.said import Key, Said, files, hosts, span_numbers
from slurmwright.conf.tree import Tree

FILE = "gres.conf"
_KEYS = ("autodetect", "nodename", "name")
#: Keys that are worked out, or that say nothing of the device itself.
_WORKED_OUT = frozenset(("nodename", "name", "autodetect", "file", "multiplefiles", "count", "cores", "cpus"))


@dataclass(frozen=True)
class DeviceLine:
    """One line of gres.conf; `nodes` is None where it holds for every node."""

    nodes: frozenset[str] | None
    values: Mapping[str, str]
    keys: Mapping[str, str]
    file: str
    line: int

    def get(self, key: str) -> str:
        return self.values.get(key, "")

    @property
    def name(self) -> str:
        return self.get("name").lower()

    @property
    def detect(self) -> str:
        """AutoDetect, "off" included; empty where the line does not say."""
        return self.get("autodetect").lower()


def device_lines(tree: Tree | None) -> tuple[DeviceLine, ...]:
    """Every line of a gres.conf, in order."""
    found = []
    for line in tree.lines if tree else ():
        if line.statement.key.lower() not in _KEYS:
            continue
        pairs = line.statement.pairs
        values = {pair.key.lower(): pair.value for pair in pairs}
        named = frozenset(hosts(values["nodename"])) if "nodename" in values else None
        spelled = {pair.key.lower(): pair.key for pair in pairs}
        found.append(DeviceLine(named, values, spelled, line.doc.file, line.statement.line))
    return tuple(found)


def lines_by_node(lines: tuple[DeviceLine, ...], nodes: Mapping[str, str]) -> dict[str, tuple[int, ...]]:
    """Node → which lines hold for it, by their numbers; `nodes` gives the Gres of each."""
    own: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        for node in line.nodes or ():
            own.setdefault(node, []).append(number)
    everywhere = [number for number, line in enumerate(lines) if line.nodes is None]
    found: dict[str, tuple[int, ...]] = {}
    for node, gres in nodes.items():
        names = {entry[0] for entry in gres_entries(gres)}
        common = [n for n in everywhere if not lines[n].name or lines[n].name in names]
        found[node] = tuple(sorted((*own.get(node, ()), *common)))
    return found


def detection(lines: list[DeviceLine]) -> str:
    """The AutoDetect that holds for a node with these lines; empty for none."""
    own = [line.detect for line in lines if line.nodes is not None and line.detect]
    common = [line.detect for line in lines if line.nodes is None and line.detect]
    said = (own or common or [""])[-1]
    return "" if said == "off" else said


def devices_of(slurm: Tree, tree: Tree | None) -> Iterator[tuple[Key, Said]]:
    """Every device of every node that has any, under `NAME NUMBER`, and what is detected."""
    for node, devices in devices_by_node(slurm, tree).items():
        for what, said in devices:
            yield (FILE, f"node {node}", what), said


def devices_by_node(slurm: Tree, tree: Tree | None) -> dict[str, tuple[tuple[str, Said], ...]]:
    """The same by node; nodes for which the same lines hold share one value."""
    lines = device_lines(tree)
    gres = {
        name: values["gres"].value
        for record in slurm.records("NodeName")
        if "gres" in (values := pairs_of(record))
        for name in hosts(values["nodename"].value)
    }
    seen: dict[tuple[int, ...], tuple[tuple[str, Said], ...]] = {}
    found: dict[str, tuple[tuple[str, Said], ...]] = {}
    for node, numbers in lines_by_node(lines, gres).items():
        if numbers not in seen:
            seen[numbers] = tuple(_devices([lines[number] for number in numbers]))
        found[node] = seen[numbers]
    return found


def _devices(lines: list[DeviceLine]) -> Iterator[tuple[str, Said]]:
    found = detection(lines)
    if found:
        place = next(line for line in lines if line.detect == found)
        yield "AutoDetect", Said(found, found, place.file, place.line)
    counted: dict[str, int] = {}
    for line in lines:
        if not line.name:
            continue
        for text in _each(line):
            number = counted[line.name] = counted.get(line.name, -1) + 1
            yield f"{line.name} {number}", Said(text.lower(), text, line.file, line.line)


def _each(line: DeviceLine) -> Iterator[str]:
    """The words of each device of one line."""
    words = [f"{line.keys[key]}={line.values[key]}" for key in sorted(line.values) if key not in _WORKED_OUT]
    cores = line.get("cores") or line.get("cpus")
    if cores:
        numbers = span_numbers(cores)
        folded = cores if numbers is None else _spans(sorted({int(number) for number in numbers}))
        words.append(f"Cores={folded}")
    many, one = line.get("multiplefiles"), line.get("file")
    if many:
        yield " ".join((*words, f"MultipleFiles={','.join(files(many))}"))
    elif one:
        yield from (" ".join((*words, f"File={path}")) for path in files(one))
    else:
        yield " ".join((*words, f"Count={line.get('count') or '1'}"))


def _spans(numbers: list[int]) -> str:
    """[0, 1, 2, 5] → `0-2,5`."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ",".join("-".join(map(str, span)) for span in spans)
