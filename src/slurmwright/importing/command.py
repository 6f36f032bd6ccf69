"""A folder to the text of its cluster.yaml and everything there is to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from slurmwright.conf.meaning import Difference
from slurmwright.core.errors import InputError
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.release import Release
from slurmwright.importing.control import control_of
from slurmwright.importing.draft import Covered, Part, Words, remark
from slurmwright.importing.network import topology_of
from slurmwright.importing.nodes import nodes_of
from slurmwright.importing.partitions import partitions_of
from slurmwright.importing.proof import findings_of, proof
from slurmwright.importing.release import likely_release
from slurmwright.importing.scratch import PLUGSTACK, disk_of
from slurmwright.importing.settle import settle
from slurmwright.importing.source import Source, read_source

_ORDER = (
    *("name", "slurm", "control", "nodes", "node_types", "topology", "scratch", "containers"),
    *("partitions", "accounting"),
)


@dataclass(frozen=True)
class Imported:
    """The text of cluster.yaml, and findings: none of warning or above where render gives files of the
    same meaning."""

    text: str
    cluster: str
    nodes: int
    release: Release
    findings: tuple[Finding, ...]

    @property
    def equal(self) -> bool:
        return all(finding.severity is Severity.INFO for finding in self.findings)


def import_folder(path: Path, release: Release | None) -> Imported:
    """Read, draft, settle and prove; raises InputError, with lines of the source, where that cannot be done.

    Without a release the newest one is taken that knows every key.
    """
    source = read_source(path)
    taken = release or likely_release(source)
    nodes = nodes_of(source, taken)
    network = topology_of(source, taken)
    parts = (
        control_of(source, taken, nodes.detects),
        nodes.part,
        Part({"topology": network.words} if network.words else {}),
        disk_of(source),
        partitions_of(source, nodes.hosts),
    )
    words: Words = {key: value for part in parts for key, value in part.words.items()}
    ordered = {key: words[key] for key in _ORDER if key in words}
    settled = settle(source, ordered, _head(path, taken, release), taken)
    listed = [*(one for part in parts for one in part.listed), *settled.listed]
    covered = {one.covers for one in listed if one.covers}
    found = tuple(
        one
        for one in proof(source, settled.bundle, taken)
        if (one.file, one.what) not in settled.refused and not _covered(one, covered)
    )
    notes = (*_release_note(source, taken, release), *_unread(source, words))
    findings = (*notes, *(one.finding for one in listed), *findings_of(found, source))
    name = settled.bundle.cluster
    return Imported(settled.text, name, len(nodes.hosts), taken, tuple(findings))


def _covered(one: Difference, covered: set[Covered]) -> bool:
    """Is a difference listed already, with its reason?"""
    if one.left is None:
        return False
    words = (one.what.lower(), one.what.lower().partition(" ")[0], "")
    return any((one.left.file, one.left.line, word) in covered for word in words)


def refuse_existing(target: Path) -> None:
    """Raise InputError where something would be overwritten."""
    if target.exists():
        raise InputError.of("exists already and is left as it is; choose another folder", str(target))


def _head(path: Path, taken: Release, given: Release | None) -> str:
    shown = "".join(char if char.isprintable() and char.isascii() else "?" for char in path.as_posix())
    lines = [
        f"# Imported from {shown}. Comments name the lines that the words came from.",
        "# `as_written` holds what no other word can say; a node type of the catalogue, or facts of the",
        "# hosts, make each of its words needless. `null` leaves out what render writes by itself.",
    ]
    if given is None:
        lines.append(f"# The files do not name their release: {taken} is the newest that knows every key.")
    return "".join(f"{line}\n" for line in (*lines, ""))


def _release_note(source: Source, taken: Release, given: Release | None) -> tuple[Finding, ...]:
    if given is not None:
        return ()
    message = f"the files do not name their release; {taken} is the newest that knows every key"
    fix = "say it with --release"
    return (remark(message, source.slurm.top.file, fix=fix, name="release-assumed"),)


def _unread(source: Source, words: Words) -> tuple[Finding, ...]:
    return tuple(
        remark("is not read here and not written by render; it stays as it is", str(path), name="not-read")
        for path in source.unread
        if not (path.name == PLUGSTACK and "containers" in words)
    )
