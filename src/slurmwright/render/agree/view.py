"""A bundle to what its files say, looked up once: nodes, controllers, settings and who holds which file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from slurmwright.conf import Document, EffectiveLine, Statement, effective_lines, parse
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold


@dataclass(frozen=True, order=True)
class Place:
    """A line of a bundle file, named as it lies in the bundle's folder; line 0 is the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, order=True)
class Disagreement:
    """Two sides that differ. `message` names the other side's place; `option` is `FILE:KEY` where a setting
    is one of the sides. What is not `certain` is wrong unless the site brings something of its own."""

    place: Place
    message: str
    option: str = ""
    certain: bool = True

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


@dataclass(frozen=True)
class Said:
    """A setting: its value and where it stands."""

    key: str
    value: str
    place: Place

    def __str__(self) -> str:
        return f"{self.key}={self.value} ({self.place})"


@dataclass(frozen=True)
class NodeLine:
    """One NodeName line with its hosts."""

    hosts: tuple[str, ...]
    addresses: tuple[str, ...]
    gres: str
    place: Place


@dataclass(frozen=True)
class Conf:
    """One of Slurm's files in a bundle."""

    file: BundleFile
    doc: Document

    def get(self, key: str) -> Said | None:
        """A global setting; Slurm takes the last one."""
        lines = self.doc.lines(key)
        return self.said(lines[-1], key) if lines else None

    def said(self, line: Statement | EffectiveLine, key: str) -> Said | None:
        pair = line.get(key)
        return Said(pair.key, pair.value, Place(self.file.source, pair.line)) if pair else None

    def lines(self, key: str) -> Iterator[tuple[Statement, Place]]:
        for statement in self.doc.lines(key):
            yield statement, Place(self.file.source, statement.line)


@dataclass(frozen=True)
class View:
    """`controllers` are (host, address or "", place); `line_of` gives the node line of a node."""

    bundle: Bundle
    main: Conf
    node_lines: tuple[NodeLine, ...]
    line_of: Mapping[str, NodeLine]
    controllers: tuple[tuple[str, str, Place], ...]
    by_path: Mapping[str, tuple[BundleFile, ...]]

    @property
    def folder(self) -> str:
        """The folder of slurm.conf on the hosts."""
        return posixpath.dirname(self.main.file.path)

    def conf(self, name: str) -> Conf | None:
        """A Slurm file beside slurm.conf; None where the bundle has none, or one that includes others."""
        return self._confs.get(name)

    @cached_property
    def _confs(self) -> dict[str, Conf]:
        files = {posixpath.basename(p): rows[0] for p, rows in self.by_path.items() if self._is_conf(p)}
        confs = {name: Conf(file, parse(file.text, name)) for name, file in files.items()}
        return {name: conf for name, conf in confs.items() if not conf.doc.includes}

    def _is_conf(self, path: str) -> bool:
        return posixpath.dirname(path) == self.folder and path.endswith(".conf")

    def holders(self, path: str) -> frozenset[str]:
        """The hosts that get a file at this path."""
        return frozenset().union(*(members(file.hosts) for file in self.by_path.get(path, ())))

    def value(self, key: str, default: str) -> str:
        said = self.main.get(key)
        return said.value if said else default


def view_of(bundle: Bundle) -> View | None:
    """None for a bundle whose slurm.conf is missing or not whole."""
    by_path: dict[str, list[BundleFile]] = {}
    for file in bundle.files:
        by_path.setdefault(file.path, []).append(file)
    mains = [file for file in bundle.files if posixpath.basename(file.path) == "slurm.conf"]
    if not mains:
        return None
    main = Conf(mains[0], parse(mains[0].text, "slurm.conf"))
    if main.doc.includes:
        return None
    lines = tuple(_node_lines(main))
    return View(
        bundle,
        main,
        lines,
        {host: line for line in lines for host in line.hosts},
        tuple(_controllers(main)),
        {path: tuple(files) for path, files in by_path.items()},
    )


@lru_cache(maxsize=256)
def members(text: str) -> frozenset[str]:
    """The hosts of a range; none where it is no range. Kept, since many files go to the same hosts."""
    return frozenset(ordered(text))


def ordered(text: str) -> tuple[str, ...]:
    """The hosts of a range in written order; none where it is no range."""
    try:
        return expand(text) if text else ()
    except InputError:
        return ()


def lines_of(file: BundleFile) -> Iterator[tuple[str, Place]]:
    """Lines of a file that is not Slurm's own, without comments and blank ones."""
    for number, line in enumerate(file.text.splitlines(), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip(), Place(file.source, number)


def shown(names: Iterable[str], limit: int = 120) -> str:
    """Hosts folded, and cut where they would fill the screen."""
    text = fold(names)
    return text if len(text) <= limit else f"{text[:limit]}..."


def _node_lines(main: Conf) -> Iterator[NodeLine]:
    for line in effective_lines(main.doc, "NodeName"):
        values = {pair.key.lower(): pair.value for pair in line.pairs}
        yield NodeLine(
            ordered(values["nodename"]),
            ordered(values.get("nodeaddr", "")),
            values.get("gres", ""),
            Place(main.file.source, line.statement.line),
        )


def _controllers(main: Conf) -> Iterator[tuple[str, str, Place]]:
    for statement, place in main.lines("SlurmctldHost"):
        host, _, address = statement.pairs[0].value.partition("(")
        yield host, address.rstrip(")"), place
