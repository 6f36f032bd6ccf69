"""Turns the lines of Slurm's files that hosts sent into keys and values, with their place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slurmwright.conf import parse
from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand
from slurmwright.verify.reached import Data


@dataclass(frozen=True)
class Line:
    """One line of a file of one host; keys are lower case."""

    file: str
    number: int
    key: str
    value: str
    pairs: Mapping[str, str]

    def names(self, node: str) -> bool:
        """Does the line hold for the node? A line without NodeName= holds for every one."""
        text = self.pairs.get("nodename")
        try:
            return text is None or node in expand(text)
        except InputError:
            return False

    def __str__(self) -> str:
        words = " ".join(f"{key}={value}" for key, value in self.pairs.items())
        return f"{self.file}:{self.number}: {words}"


def lines_of(data: Data, name: str) -> tuple[Line, ...]:
    """The lines of one file in a host's document."""
    row = (data.get("configuration") or {}).get(name)
    if not isinstance(row, dict):
        return ()
    return tuple(_lines(str(row.get("path", name)), row.get("lines") or ()))


def _lines(path: str, rows: Iterable[Sequence[object]]) -> Iterator[Line]:
    for number, text in rows:
        for statement in parse(str(text)).statements:
            pairs = {pair.key.lower(): pair.value for pair in statement.pairs}
            key, value = next(iter(pairs.items()), ("", ""))
            yield Line(path, int(str(number)), key, value, pairs)


def last(lines: Sequence[Line], key: str) -> Line | None:
    """The line that counts: Slurm takes the last."""
    return next((line for line in reversed(lines) if line.key == key), None)


def cores_by_file(lines: Sequence[Line]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """(device file, cores) of gres.conf lines that have both."""
    for line in lines:
        try:
            cores = parse_cpus(line.pairs.get("cores", ""))
        except ValueError:
            continue
        yield from ((file, cores) for file in _files(line.pairs.get("file", "")))


def _files(text: str) -> tuple[str, ...]:
    """`/dev/nvidia[0-3]` → four files."""
    try:
        return tuple(f"/{name}" for name in _expanded(text.lstrip("/")))
    except InputError:
        return ()


def _expanded(text: str) -> tuple[str, ...]:
    folder, _, name = text.rpartition("/")
    return tuple(f"{folder}/{one}" for one in expand(name)) if name else ()
