"""Turns `slurmd -C` into the node line that slurmd would have you write.

It counts what slurmd sees now: inside a container or with threads switched off that is less than the machine.
Other lines around it (UpTime, log lines of plugins) say nothing about the node and are passed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from slurmwright.discover.parse.lines import Text, shown

_NUMBERS = {
    "CPUs": "cpus",
    "Boards": "boards",
    "SocketsPerBoard": "sockets_per_board",
    "CoresPerSocket": "cores_per_socket",
    "ThreadsPerCore": "threads_per_core",
    "RealMemory": "real_memory_mb",
}
_WORDS = {"NodeName": "node_name", "Gres": "gres", "Parameters": "parameters"}
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9]*)=(\S*)\Z")
_NEEDED = tuple(_NUMBERS)


@dataclass(frozen=True)
class SlurmdC:
    """The NodeName line. `other` holds keys that are not listed here, as (key, value)."""

    node_name: str
    cpus: int
    boards: int
    sockets_per_board: int
    cores_per_socket: int
    threads_per_core: int
    real_memory_mb: int
    gres: str | None = None
    parameters: str | None = None
    other: tuple[tuple[str, str], ...] = ()


def parse(text: str, name: str) -> SlurmdC:
    """Raises InputError unless exactly one whole NodeName line is in the text."""
    source = Text.of(text, name)
    lines = [(number, line) for number, line in source.numbered() if line.lstrip().startswith("NodeName=")]
    if not lines:
        source.refuse("no NodeName line is in it; `slurmd -C` prints one")
    if len(lines) > 1:
        source.refuse("has a second NodeName line; `slurmd -C` prints one", lines[1][0], 1)
    number, line = lines[0]
    values: dict[str, int | str] = {}
    other: list[tuple[str, str]] = []
    for word in re.finditer(r"\S+", line):
        key, value = _pair(source, number, word)
        if key in _NUMBERS:
            if not re.fullmatch(r"\d{1,9}", value, re.ASCII):
                source.refuse(f"{key}={shown(value)} is no number", number, word.start() + 1)
            key, known = _NUMBERS[key], int(value)
        elif key in _WORDS:
            key, known = _WORDS[key], value  # type: ignore[assignment] # words beside numbers
        else:
            other.append((key, value))
            continue
        if key in values:
            source.refuse(f"{shown(word[0])}: this key stands twice", number, word.start() + 1)
        values[key] = known
    missing = [key for key in _NEEDED if _NUMBERS[key] not in values]
    if missing:
        source.refuse(f"the NodeName line has no {', '.join(missing)}; it is cut off", number, len(line) + 1)
    return SlurmdC(**values, other=tuple(other))  # type: ignore[arg-type] # types as in the tables


def _pair(text: Text, number: int, word: re.Match[str]) -> tuple[str, str]:
    found = _PAIR.match(word[0])
    if not found or ("=" in found[2] and re.search(r"[a-z][A-Z]\w*=", found[2])):
        text.refuse(f"'{shown(word[0])}' is no KEY=VALUE", number, word.start() + 1)
    return found[1], found[2]
