"""Words of comma lists (plugins, flags, parameters) to what a release has against them."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from slurmwright.catalogue.lifetime import span_covers
from slurmwright.catalogue.options import Option
from slurmwright.catalogue.words import Vocabulary, Word, vocabulary
from slurmwright.core.finding import Severity
from slurmwright.core.release import SERIES, Release
from slurmwright.rules.config import at
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import Fault


def words_at_fault(seen: Evidence, kinds: Collection[str]) -> Iterator[Fault]:
    """The faults of all words of keys whose unknown words Slurm treats in one of these ways."""
    for key in seen.keys:
        option = key.option
        if option is None or option.words is None or not option.known_in(seen.release):
            continue
        if _is_not_read(option, seen.release):
            continue
        words = vocabulary(option.words)
        if words.unknown not in kinds:
            continue
        for setting in key.values:
            for text in dict.fromkeys(part.strip() for part in setting.value.split(",") if part.strip()):
                found = _problem(seen, words, text)
                if found:
                    problem, severity = found
                    message = f"{option.key}: {problem}"
                    yield Fault(message, at(setting), severity=severity, about=f"{option.name}={text}")


def _is_not_read(option: Option, release: Release) -> bool:
    """Does the release drop the value whatever it is? That is OP004's to tell."""
    unread = option.never_read is not None and span_covers(option.never_read, release)
    return unread or (option.write_until is not None and not release.at_most(option.write_until))


def _problem(seen: Evidence, words: Vocabulary, text: str) -> tuple[str, Severity | None] | None:
    row = words.find(text)
    problem = words.problem(text, seen.release)
    if problem is None and row is not None and seen.asked and row.since == SERIES[0]:
        problem = f"'{text}' came with Slurm {SERIES[0]} and is not known to {seen.asked}"
    if problem is None:
        return None
    if row is not None and row.note and row.note not in problem:
        problem += f"; {row.note}"
    return problem, Severity.INFO if row is not None and _patch_only(seen, row) else None


def _patch_only(seen: Evidence, row: Word) -> bool:
    """Is it only the patch level, which was not given, that decides?"""
    since = row.since or ""
    return seen.release.patch is None and since.count(".") == 2 and since.startswith(seen.release.series)
