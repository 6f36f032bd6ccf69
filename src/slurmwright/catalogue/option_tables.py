"""Reads the tables of Slurm's keys: one row for each key of each section of each file, with its releases."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import Field

from slurmwright.catalogue.lifetime import Lifetime, Version, span_covers
from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.core.release import Release

FOLDER = DATA / "slurm_options"
_WORD_FILES = ("plugins", "enums", "parameters")

Type = Literal[
    "string", "lines", "bool", "uint16", "uint32", "uint64", "float", "int", "list", "mapping"
]  # `lines`: the key may stand several times; the last three occur in YAML files only


class TypeSince(Lifetime):
    """Which parser type a key had from a release on."""

    type: Type


class Option(Lifetime):
    """One key of one section of one file. `defunct`: from then on the key parses, but its value is dropped
    and the daemons log an error. Spans such as `23.11+` or `all` say for which releases a text holds."""

    file: str
    section: str
    key: str
    type: Type
    type_history: tuple[TypeSince, ...] = ()
    defunct: Version | None = None
    write: Literal["never", "avoid"] | None = None
    write_until: Version | None = None
    words: str | None = None
    plugins: tuple[str, ...] = ()
    default: Mapping[str, str] = Field(default_factory=dict)
    behaviour: Mapping[str, str] = Field(default_factory=dict)
    undocumented: str | None = None
    never_read: str | None = None
    note: str | None = None
    constraint: str | None = None
    replacement: str | None = None

    @property
    def name(self) -> str:
        """As in `slurm.conf:TaskPlugin`, `slurm.conf:NodeName.Sockets`, `slurm.conf:NodeName`."""
        plain = self.section in ("global", "line", "root", self.key)
        inner = "" if plain else f"{self.section}."
        return f"{self.file}:{inner}{self.key}"

    def type_in(self, release: Release) -> Type:
        """The parser type that the key has in a release."""
        held = [past.type for past in self.type_history if past.known_in(release)]
        return held[-1] if held else self.type

    def default_in(self, release: Release) -> str | None:
        """What Slurm takes when the key is left out, where the catalogue knows it."""
        return next((text for span, text in self.default.items() if span_covers(span, release)), None)

    def advice(self, release: Release) -> str:
        """What the catalogue knows about writing the key in this release, as one line; may be empty."""
        texts = [text for span, text in self.behaviour.items() if span_covers(span, release)]
        texts += [text for text in (self.note, self.replacement and f"use {self.replacement}") if text]
        return "; ".join(texts)


class ConfFile(Row):
    """One file of Slurm's: its sections of options, and what an unknown key in it does."""

    file: str
    unknown_key: str | None = None
    note: str | None = None
    source: tuple[str, ...]
    options: Mapping[tuple[str, str], Option]


def file_names() -> tuple[str, ...]:
    """The files that have a table, for example `slurm.conf`."""
    names = (path.name.removesuffix(".yaml") for path in FOLDER.glob("*.yaml"))
    return tuple(sorted(name for name in names if name not in _WORD_FILES))


@cache
def conf_file(file: str) -> ConfFile | None:
    """The table of one file, read when first asked for; None when there is none."""
    if file not in file_names():
        return None
    path = FOLDER / f"{file}.yaml"
    raw = load(path)
    options = {
        (section.lower(), key.lower()): row(
            Option, body, path, f"{section}.{key}", file=file, section=section, key=key
        )
        for section, keys_ in raw.pop("sections").items()
        for key, body in keys_.items()
    }
    return row(ConfFile, raw, path, options=options)


def lookup(file: str, section: str, key: str) -> Option | None:
    """The row of a key, or None; sections are `global`, `NodeName`, `PartitionName` ... and `line` in
    gres.conf. Letter case of section and key does not count."""
    table = conf_file(file)
    return table.options.get((section.lower(), key.lower())) if table else None


def keys(file: str, section: str) -> tuple[str, ...]:
    """All keys of a section, of every release, in the table's order."""
    table = conf_file(file)
    rows = table.options.values() if table else ()
    return tuple(option.key for option in rows if option.section.lower() == section.lower())


def find(name: str) -> tuple[Option, ...]:
    """Every option that a name means: a bare key (in any file), `FILE:KEY` or `FILE:SECTION.KEY`."""
    file, _, rest = name.rpartition(":")
    section, _, key = rest.rpartition(".")
    tables = (conf_file(known) for known in file_names() if not file or known == file.lower())
    return tuple(
        option
        for table in tables
        if table is not None
        for option in table.options.values()
        if option.key.lower() == key.lower() and (not section or option.section.lower() == section.lower())
    )
