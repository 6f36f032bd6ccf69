"""Words that a Slurm option takes (plugins, flags, `name=value` parameters) and in which releases.

Slurm refuses an unknown plugin or flag at start, but searches most `...Parameters` strings as text: there an
unknown word is ignored in silence, which is why it is reported here all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, cached_property
from types import MappingProxyType
from typing import Literal

from slurmwright.catalogue.lifetime import Lifetime, Version
from slurmwright.catalogue.read import DATA, Row, load, row
from slurmwright.core.errors import InputError, did_you_mean
from slurmwright.core.release import Release

Kind = Literal["plugins", "enums", "parameters"]

_UNKNOWN = {
    "fatal": "the daemons refuse to start with it",
    "error": "the daemons log an error and ignore it",
    "ignored": "Slurm ignores it in silence",
}


class Word(Lifetime):
    """One word. `value`: it must be followed by `=` and a value; `defunct`: since then it is only logged."""

    value: bool = False
    defunct: Version | None = None
    write: Literal["never"] | None = None
    undocumented: str | None = None
    note: str | None = None


class Vocabulary(Row):
    """The words of one option. `open`: other words are allowed; `part`: a word counts when it contains a
    known one; `prefix`: may be left out before a word."""

    name: str
    kind: Kind
    unknown: Literal["fatal", "error", "ignored"]
    open: bool = False
    part: bool = False
    prefix: str = ""
    write: Literal["never"] | None = None
    note: str | None = None
    constraint: str | None = None
    words: Mapping[str, Word]

    def find(self, text: str) -> Word | None:
        """The row of a word as written (`bf_window=10080`, `lua`); letter case does not count."""
        name = _name(text)
        known = self._folded
        word = known.get(name) or known.get(self.prefix + name)
        if word is None:
            stems = [k for k in known if k.endswith("_") and name.startswith(k)]
            stems += [k for k in known if self.part and k in name]
            word = known[stems[0]] if stems else None
        return word

    def problem(self, text: str, release: Release) -> str | None:
        """What is wrong with one word for a release, as a sentence; None when nothing is."""
        word = self.find(text)
        if word is None:
            if self.open:
                return None
            names = [name for name, row_ in self.words.items() if row_.known_in(release)]
            return f"'{text}' is not known: {_UNKNOWN[self.unknown]}; {did_you_mean(_name(text), names)}"
        lacking = word.why_not(release)
        if lacking:
            return f"'{text}' {lacking} ({_UNKNOWN[self.unknown]})"
        if word.write == "never" or (word.defunct and release.at_least(word.defunct)):
            return f"'{text}' is not to be written: {word.note or 'it has no effect'}"
        if word.value and "=" not in text:
            return f"'{text}' needs a value ({text}=...); without one Slurm ignores it"
        return None

    @cached_property
    def _folded(self) -> dict[str, Word]:
        return {name.lower(): word for name, word in self.words.items()}


@cache
def vocabularies(kind: Kind) -> Mapping[str, Vocabulary]:
    """All vocabularies of one kind by option name."""
    path = DATA / "slurm_options" / f"{kind}.yaml"
    raw = {name: body for name, body in load(path).items() if name != "source"}
    return MappingProxyType(
        {name: row(Vocabulary, body, path, name, name=name, kind=kind) for name, body in raw.items()}
    )


def vocabulary(reference: str) -> Vocabulary:
    """The vocabulary that an option row names, for example `parameters:SchedulerParameters`."""
    kinds: tuple[Kind, ...] = ("plugins", "enums", "parameters")
    for kind in kinds:
        name = reference.removeprefix(f"{kind}:")
        if name != reference and name in vocabularies(kind):
            return vocabularies(kind)[name]
    raise InputError.of(f"the catalogue has no vocabulary '{reference}'")


def token(kind: Kind, key: str, word: str) -> Word | None:
    """The row of `word` among the words of option `key`; None when the option or the word is not known."""
    found = vocabularies(kind).get(key)
    return found.find(word) if found is not None else None


def _name(text: str) -> str:
    return text.split("=")[0].split(":")[0].strip().lower()
