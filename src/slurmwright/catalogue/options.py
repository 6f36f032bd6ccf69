"""Every key of Slurm's files by release: may it be written, and is this value one that Slurm takes?

An unknown key is not a detail: in slurm.conf it stops every daemon and every client command that reads the
file. `check_setting` asks everything at once; each rendered pair and each override goes through it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from pydantic import Field

from slurmwright.catalogue.lifetime import Lifetime, Version, span_covers
from slurmwright.catalogue.parsers import value_problem
from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.catalogue.words import Kind as Kind
from slurmwright.catalogue.words import Word as Word
from slurmwright.catalogue.words import token as token
from slurmwright.catalogue.words import vocabulary
from slurmwright.core.errors import did_you_mean
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


def check_value(option: Option, text: str, release: Release | None = None) -> str | None:
    """A sentence when Slurm's parser would refuse this value of the key."""
    problem = value_problem(option.type_in(release) if release else option.type, text)
    return f"{option.key} {problem}" if problem else None


def check_setting(release: Release, file: str, section: str, key: str, value: str) -> str | None:
    """What speaks against `key = value` in this release, as one sentence; None when nothing does."""
    option = lookup(file, section, key)
    if option is None:
        return _unknown(release, file, section, key)
    lacking = option.why_not(release)
    if lacking:
        return f"{option.key} {lacking}{_end(option.replacement, 'use')}"
    problem = _unwanted(option, release) or check_value(option, value, release)
    if problem or option.words is None:
        return problem
    words = vocabulary(option.words)
    bare = value.strip().strip('"')
    for word in filter(None, (part.strip() for part in bare.split(","))):
        problem = words.problem(word, release)
        if problem:
            return f"{option.key}: {problem}"
    return None


def _unwanted(option: Option, release: Release) -> str | None:
    """Keys that parse and do harm or nothing."""
    advice = _end(option.advice(release))
    if option.defunct and release.at_least(option.defunct):
        return f"{option.key} is defunct since Slurm {option.defunct}: the value is dropped{advice}"
    if option.write == "never":
        return f"{option.key} is not to be written{advice}"
    if option.write_until and not release.at_most(option.write_until):
        return f"{option.key} is not to be written after Slurm {option.write_until}{advice}"
    return None


def _unknown(release: Release, file: str, section: str, key: str) -> str:
    table = conf_file(file)
    if table is None:
        return f"{file} is not a file of Slurm's; {did_you_mean(file, file_names())}"
    elsewhere = [o.section for o in table.options.values() if o.key.lower() == key.lower()]
    if elsewhere:
        return f"{key} does not stand in section {section} of {file}; it belongs to {' or '.join(elsewhere)}"
    sane = [
        option.key
        for option in table.options.values()
        if option.section.lower() == section.lower() and option.known_in(release) and not option.write
    ]
    effect = f" ({table.unknown_key})" if table.unknown_key else ""
    return f"{key} is not a key of {file}{effect}; {did_you_mean(key, sane)}"


def _end(text: str | None, verb: str = "") -> str:
    return f"; {verb} {text}".replace(";  ", "; ") if text else ""
