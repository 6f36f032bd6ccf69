"""The drafted parts to a cluster.yaml that loads and renders: tried, mended and tried again.

The model and render judge every word as they would judge a person's. An option that they refuse is taken out
and listed with their reason; what cannot be taken out is an error at the line of the source.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from slurmwright.catalogue.options import lookup
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError, Problem
from slurmwright.core.release import Release
from slurmwright.importing.draft import Listed, Words, left_out, remark
from slurmwright.importing.overrides import Overrides, needed, several
from slurmwright.importing.source import Source
from slurmwright.importing.yaml_text import Noted, yaml_text
from slurmwright.model.load import FILE, cluster_from
from slurmwright.model.yaml_source import Where, parse_yaml
from slurmwright.render import render

#: A word that is overridden may change what others must be (MessageTimeout and UnkillableStepTimeout).
_ROUNDS = 8
_PLACE = re.compile(r"# (\S+?):(\d+)\Z")
_SECTIONS = {"nodes": "NodeName", "partitions": "PartitionName"}


@dataclass(frozen=True)
class Settled:
    """The text, its bundle, and what had to be taken out; `refused` are settings that are listed."""

    text: str
    bundle: Bundle
    listed: tuple[Listed, ...]
    refused: frozenset[tuple[str, str]]


@dataclass
class _State:
    words: Words
    overrides: Overrides = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    listed: list[Listed] = field(default_factory=list)


def settle(source: Source, words: Words, head: str, release: Release) -> Settled:
    """Raises InputError, with lines of the source, where no cluster.yaml can be made."""
    state = _State(words)
    for key, one in several(source, release):
        state.refused.add(key)
        state.listed.append(one)
    for _ in range(_ROUNDS):
        text, bundle = _accepted(source, state, head, release)
        more = needed(source, bundle, release, state.refused)
        changed = {key: value for key, value in more.items() if state.overrides.get(key) != value}
        if not changed:
            break
        state.overrides |= changed
    text, bundle = _accepted(source, state, head, release)
    return Settled(text, bundle, tuple(state.listed), frozenset(state.refused))


def _accepted(source: Source, state: _State, head: str, release: Release) -> tuple[str, Bundle]:
    """The text that is taken, after options that are not were taken out of the state."""
    while True:
        text = head + yaml_text({**state.words, **_overrides(state.overrides)})
        try:
            return text, render(cluster_from(parse_yaml(text, FILE)), {})
        except InputError as error:
            at = _options(text, state)
            wrong = {where: p for p in error.problems if (where := _option_at(p, at)) is not None}
            if not wrong:
                raise InputError(_of_source(source, text, problem) for problem in error.problems) from None
            for where, problem in wrong.items():
                state.listed.append(_take_out(source, state, where, problem.message, release))


def _overrides(found: Overrides) -> Words:
    by_file: dict[str, dict[str, object]] = {}
    for (file, _), (key, value) in sorted(found.items(), key=lambda row: row[0][0] != "slurm.conf"):
        by_file.setdefault(file, {})[key] = value
    return {"overrides": by_file} if by_file else {}


def _options(text: str, state: _State) -> dict[int, Where]:
    """Line of the text → the option that stands there."""
    try:
        document = parse_yaml(text, FILE)
    except InputError:
        return {}
    return {document.place(where, key=True)[0]: where for where in _paths(state)}


def _paths(state: _State) -> Iterator[Where]:
    for (file, _), (key, _) in state.overrides.items():
        yield ("overrides", file, key)
    for section in _SECTIONS:
        for at, options in enumerate(_options_of(state.words, section)):
            for key in options:
                yield (section, at, "options", key)


def _options_of(words: Mapping[str, object], section: str) -> Iterator[dict[str, object]]:
    entries = words.get(section)
    for entry in entries if isinstance(entries, list) else ():
        inner = entry.value if isinstance(entry, Noted) else entry
        options = inner.get("options") if isinstance(inner, dict) else None
        yield options if isinstance(options, dict) else {}


def _option_at(problem: Problem, at: Mapping[int, Where]) -> Where | None:
    """The option that a problem of the text or of the rendered files is about."""
    if problem.where:
        return next((where for where in at.values() if problem.where[: len(where)] == where), None)
    return at.get(problem.line) if problem.file == FILE and problem.line else None


def _take_out(source: Source, state: _State, where: Where, reason: str, release: Release) -> Listed:
    key = str(where[-1])
    if where[0] == "overrides":
        file, section = str(where[1]), "global"
        _, value = state.overrides.pop((file, key.lower()), ("", Noted(None, "")))
        state.refused.add((file, key.lower()))
    else:
        file, section = "slurm.conf", _SECTIONS[str(where[0])]
        options = list(_options_of(state.words, str(where[0])))[int(where[1])]
        found = options.pop(key)
        value = found if isinstance(found, Noted) else Noted(found, "")
    place = _PLACE.search(f"# {value.note}")
    shown, line = (str(source.folder / place[1]), int(place[2])) if place else (str(source.folder / file), 0)
    option = lookup(file, section, key)
    secret = key.lower().endswith(("pass", "password"))
    said = key if secret or value.value is None else f"{key}={value.value}"
    message = f"{said} is not taken over: {reason}"
    if option is not None and (option.never_read or (option.defunct and release.at_least(option.defunct))):
        finding = remark(message, shown, line, name="without-effect")
    else:
        finding = left_out(message, shown, line, name="not-kept")
    return Listed(finding, (shown, line, key.lower()))


def _of_source(source: Source, text: str, problem: Problem) -> Problem:
    """The problem at the line of the source that the word at fault came from, where one is known."""
    lines = text.splitlines()
    at = problem.line if problem.file == FILE else 0
    while at > 0:
        match = _PLACE.search(lines[at - 1])
        if match:
            return Problem(str(source.folder / match[1]), int(match[2]), 0, problem.message)
        at -= 1
    within = f" (in {problem.file} of what would be rendered)" if problem.file not in ("", FILE) else ""
    return Problem(source.slurm.top.file, 0, 0, f"{problem.message}{within}")
