"""Turns what slurm.conf expects of its site, and no bundle brings, into changes for a rehearsal.

Programs that somebody else installs, keys that are secrets, jobs that only other users may submit: without
them a correct slurm.conf would fail on this machine for nothing. All of it is listed with the result.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from slurmwright.conf import Document, Statement, changes
from slurmwright.rehearse.values import Adaptation

_PROGRAM = "a program of the site: the bundle does not bring it, so it is not run here"
_LUA = "its script is the site's own: the bundle does not bring it"
_KEY = "its key is a secret that no bundle holds"
_ROOT = "root submits the jobs of a rehearsal"
_X11 = "X11 forwarding goes with proctrack/cgroup only"
#: Options that name programs whose absence stops a daemon, drains nodes or fails jobs.
PROGRAMS = (
    "EpilogSlurmctld",
    "Epilog",
    "HealthCheckProgram",
    "PrologSlurmctld",
    "Prolog",
    "ResumeFailProgram",
    "ResumeProgram",
    "SuspendProgram",
    "TaskEpilog",
    "TaskProlog",
)
#: (option, its plugin, the script that the plugin reads beside slurm.conf)
_SCRIPTED = (("JobSubmitPlugins", "lua", "job_submit.lua"),)
#: (option, value, what stands in for it)
_SECRET = (("AuthType", "auth/slurm", "auth/munge"), ("CredType", "cred/slurm", "cred/munge"))
_YES = ("yes", "true", "up", "1")


@dataclass(frozen=True)
class Step:
    """One difference from the bundle: what to change in the text, and how it is listed."""

    changes: changes.Changes
    shown: Adaptation


def site_steps(doc: Document, paths: Collection[str]) -> Iterator[Step]:
    """What must differ in this slurm.conf; `paths` are those of all files of the bundle."""
    for key in PROGRAMS:
        for statement in doc.lines(key):
            pair = statement.get(key)
            if pair is not None and pair.value and not _brought(pair.value, paths):
                yield _out(doc, statement, key, _PROGRAM)
    for key, plugin, script in _SCRIPTED:
        if f"{posixpath.dirname(doc.file)}/{script}" not in paths:
            yield from _without(doc, key, plugin, _LUA)
    yield from _reboot_steps(doc, paths)
    yield from auth_steps(doc)
    for key in ("AuthAltTypes", "AuthAltParameters"):
        for statement in doc.lines(key):
            yield _out(doc, statement, key, _KEY)
    yield from _without(doc, "PrologFlags", "x11", _X11)
    for statement in doc.lines("DisableRootJobs"):
        if _is_yes(statement, "DisableRootJobs"):
            yield _out(doc, statement, "DisableRootJobs", _ROOT)
    for statement in doc.lines("PartitionName"):
        if _is_yes(statement, "DisableRootJobs"):
            edit = changes.unset_pair(doc, statement, "DisableRootJobs")
            yield Step(edit, _shown(doc, statement, "DisableRootJobs", "", _ROOT))


def _reboot_steps(doc: Document, paths: Collection[str]) -> Iterator[Step]:
    """From 26.05 slurmctld looks for the program that it would run itself."""
    words = doc.get("SlurmctldParameters")
    if words is None or "reboot_from_controller" not in words.value.lower():
        return
    for statement in doc.lines("RebootProgram"):
        pair = statement.get("RebootProgram")
        if pair is not None and pair.value and not _brought(pair.value, paths):
            yield _out(doc, statement, "RebootProgram", _PROGRAM)


def auth_steps(doc: Document) -> Iterator[Step]:
    """Munge, with a key of the rehearsal's own, in the place of a key that is not there."""
    for key, value, instead in _SECRET:
        pair = doc.get(key)
        if pair is not None and pair.value.lower() == value:
            shown = Adaptation(doc.file, pair.line, key, pair.value, instead, _KEY)
            yield Step(changes.set_key(doc, key, instead), shown)


def comment_out(doc: Document, statement: Statement) -> changes.Changes:
    """All physical lines of it, so that the lines after it keep their numbers."""
    text = doc.text[statement.start : statement.end]
    lines = text.removesuffix("\n").split("\n")
    commented = "\n".join(f"# not in a rehearsal: {line}" for line in lines) + text[len("\n".join(lines)) :]
    return (changes.Change(statement.start, statement.end, commented, None),)


def _brought(value: str, paths: Collection[str]) -> bool:
    """The bundle brings every program that the value names; Prolog and Epilog may be patterns."""
    names = [one.split()[0] for one in value.split(",") if one.strip()]
    return all(any(path == name or fnmatchcase(path, name) for path in paths) for name in names)


def _without(doc: Document, key: str, word: str, reason: str) -> Iterator[Step]:
    """Take one word out of a comma list, and the line with the last one."""
    pair = doc.get(key)
    words = pair.value.split(",") if pair is not None else []
    kept = [one for one in words if one.strip().lower() != word]
    if pair is None or len(kept) == len(words):
        return
    new = ",".join(kept)
    edit = (
        changes.set_key(doc, key, new)
        if new
        else tuple(change for statement in doc.lines(key) for change in comment_out(doc, statement))
    )
    yield Step(edit, Adaptation(doc.file, pair.line, key, pair.value, new, reason))


def _out(doc: Document, statement: Statement, key: str, reason: str) -> Step:
    return Step(comment_out(doc, statement), _shown(doc, statement, key, "", reason))


def _shown(doc: Document, statement: Statement, key: str, new: str, reason: str) -> Adaptation:
    pair = statement.get(key)
    return Adaptation(
        doc.file, pair.line if pair else statement.line, key, pair.value if pair else "", new, reason
    )


def _is_yes(statement: Statement, key: str) -> bool:
    pair = statement.get(key)
    return pair is not None and pair.value.lower() in _YES
