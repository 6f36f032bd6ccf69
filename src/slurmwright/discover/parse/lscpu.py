"""Turns `lscpu` into the CPU layout: text of old and new releases, or `lscpu -J` with nulls; x86 and ARM.

A line that is not there is None, never a default: people keep only the lines that they looked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.discover.parse.lines import Text, shown

_NUMBERS = {
    "CPU(s)": "cpus",
    "Thread(s) per core": "threads_per_core",
    "Core(s) per socket": "cores_per_socket",
    "Core(s) per cluster": "cores_per_cluster",
    "Socket(s)": "sockets",
    "Cluster(s)": "clusters",
    "NUMA node(s)": "numa_nodes",
}
_WORDS = {"Architecture": "architecture", "Vendor ID": "vendor", "Model name": "model"}
_LISTS = {"On-line CPU(s) list": "online", "Off-line CPU(s) list": "offline"}
_KEYS = {**_NUMBERS, **_WORDS, **_LISTS}
_NUMA = re.compile(r"NUMA node(\d{1,5}) CPU\(s\)\Z", re.ASCII)
_LINE = re.compile(r"\s*(?P<key>[A-Z][^:]*?)\s*:(?P<value>.*)\Z")


@dataclass(frozen=True)
class LscpuNode:
    """A NUMA node and the list of its CPUs; None for a node of memory only."""

    id: int
    cpus: str | None


@dataclass(frozen=True)
class Lscpu:
    """What lscpu shows; None is what it does not show."""

    architecture: str | None = None
    vendor: str | None = None
    model: str | None = None
    cpus: int | None = None
    online: str | None = None
    offline: str | None = None
    threads_per_core: int | None = None
    cores_per_socket: int | None = None
    cores_per_cluster: int | None = None
    sockets: int | None = None
    clusters: int | None = None
    numa_nodes: int | None = None
    numa: tuple[LscpuNode, ...] = ()


@dataclass(frozen=True)
class _Field:
    key: str
    value: str
    line: int
    column: int


def parse(text: str, name: str) -> Lscpu:
    """Raises InputError for text without one line of lscpu, and for lines that exclude each other."""
    source = Text.of(text, name)
    first = next((line for line in source.lines if line.strip()), "")
    fields = _json_fields(source, text) if first.lstrip().startswith("{") else _text_fields(source)
    values: dict[str, int | str | None] = {}
    nodes: dict[int, str | None] = {}
    for field in fields:
        node = _NUMA.match(field.key)
        if node:
            if int(node[1]) in nodes:
                source.refuse(f"NUMA node {node[1]} stands twice", field.line, field.column)
            nodes[int(node[1])] = _cpu_list(source, field)
        elif field.key in _KEYS:
            if _KEYS[field.key] in values:
                source.refuse(f"'{field.key}' stands twice", field.line, field.column)
            values[_KEYS[field.key]] = _value(source, field)
    if not values and not nodes:
        source.refuse("no line of lscpu is in it; expected for example 'NUMA node0 CPU(s): 0-55'")
    _check_nodes(source, values.get("numa_nodes"), nodes)
    numa = tuple(LscpuNode(number, nodes[number]) for number in sorted(nodes))
    return Lscpu(**values, numa=numa)  # type: ignore[arg-type] # each value has the type of its table


def _value(text: Text, field: _Field) -> int | str | None:
    if field.key in _LISTS:
        return _cpu_list(text, field)
    if field.value in ("", "-"):
        return None
    if field.key in _WORDS:
        return field.value
    if not re.fullmatch(r"\d{1,6}", field.value, re.ASCII):
        text.refuse(f"'{shown(field.value)}' is no number of {field.key}", field.line, field.column)
    return int(field.value)


def _cpu_list(text: Text, field: _Field) -> str | None:
    if field.value in ("", "-"):
        return None
    try:
        parse_cpus(field.value)
    except ValueError:
        text.refuse(f"'{shown(field.value)}' is no list of CPUs", field.line, field.column)
    return field.value


def _check_nodes(text: Text, said: int | str | None, nodes: dict[int, str | None]) -> None:
    if said is not None and nodes and len(nodes) != said:
        text.refuse(f"says {said} NUMA nodes but shows {len(nodes)}; lines are cut off", len(text.lines))
    owner: dict[int, int] = {}
    for number, cpus in sorted(nodes.items()):
        for cpu in parse_cpus(cpus) if cpus else ():
            if owner.setdefault(cpu, number) != number:
                text.refuse(f"CPU {cpu} is in NUMA node {owner[cpu]} and in node {number}")


def _text_fields(text: Text) -> Iterator[_Field]:
    for number, line in text.numbered():
        found = _LINE.match(line)
        if found:
            value = found["value"]
            column = found.start("value") + len(value) - len(value.lstrip()) + 1
            yield _Field(found["key"], value.strip(), number, column)


def _json_fields(text: Text, raw: str) -> Iterator[_Field]:
    try:
        data = json.loads(raw)
        entries = data["lscpu"]
    except json.JSONDecodeError as error:
        text.refuse(f"is no JSON: {error.msg}", error.lineno, error.colno)
    except (ValueError, RecursionError, KeyError, TypeError):
        text.refuse("is not what `lscpu -J` prints: expected an object with 'lscpu'", 1)
    yield from _entries(text, entries)


def _entries(text: Text, entries: object) -> Iterator[_Field]:
    """Newer releases hang fields below others, in 'children'."""
    if not isinstance(entries, list):
        text.refuse("is not what `lscpu -J` prints: expected a list of fields", 1)
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("field"), str):
            text.refuse("is not what `lscpu -J` prints: an entry has no 'field'", 1)
        data = entry.get("data")
        if data is not None and not isinstance(data, str):
            text.refuse(f"'{shown(entry['field'])}' has data that is no text", 1)
        yield _Field(entry["field"].strip().rstrip(":"), (data or "").strip(), 0, 0)
        if entry.get("children") is not None:
            yield from _entries(text, entry["children"])
