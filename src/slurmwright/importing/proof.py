"""The source and what render makes of its cluster.yaml, to the differences between the two."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.catalogue.options import lookup
from slurmwright.conf.meaning import Difference, Meaning, differences, meaning_of
from slurmwright.core.bundle import Bundle
from slurmwright.core.finding import Finding
from slurmwright.core.release import Release
from slurmwright.importing.draft import left_out
from slurmwright.importing.overrides import compared
from slurmwright.importing.rendered import texts_of, trees_of
from slurmwright.importing.source import Source

#: Never shown and never compared: render has a placeholder in its place.
_SECRET = "storagepass"  # noqa: S105
_FIX = "compare the two lines; what follows from the words of cluster.yaml is changed there"


def proof(source: Source, bundle: Bundle, release: Release) -> tuple[Difference, ...]:
    """What the rendered files say otherwise than the source."""
    texts = texts_of(bundle)
    skipped = {"slurmdbd.conf"} - set(compared(source))
    network = ("topology.yaml", texts["topology.yaml"]) if "topology.yaml" in texts else None
    theirs = meaning_of(source.trees, source.topology_yaml, release)
    ours = meaning_of(trees_of(bundle), (network[1], network[0]) if network else None, release)
    return differences(_kept(theirs, skipped), _kept(ours, skipped))


def findings_of(found: tuple[Difference, ...], source: Source) -> Iterator[Finding]:
    """Each difference as a finding at the line of the source."""
    for one in found:
        what = one.what if one.what[:1].isupper() or " " in one.what else _spelled(one)
        subject = f"{one.subject}: " if one.subject else ""
        if one.left is None:
            assert one.right is not None  # noqa: S101 - a difference has at least one side
            file = str(source.folder / one.file)
            yield left_out(
                f"{subject}the source has no {what}, render writes {_value(one, one.right.written)}",
                file,
                0,
                _FIX,
                "added",
            )
        elif one.right is None:
            message = f"{subject}{what}={_value(one, one.left.written)} is not written by render"
            yield left_out(message, one.left.file, one.left.line, _FIX, "lost")
        else:
            message = (
                f"{subject}{what} is {_value(one, one.left.written)} here, and render writes "
                f"{_value(one, one.right.written)}"
            )
            yield left_out(message, one.left.file, one.left.line, _FIX, "changed")


def _kept(meaning: Meaning, skipped: set[str]) -> Meaning:
    return {key: said for key, said in meaning.items() if key[0] not in skipped and key[2] != _SECRET}


def _spelled(one: Difference) -> str:
    section = {"node": "NodeName", "partition": "PartitionName"}.get(one.subject.partition(" ")[0], "global")
    option = lookup(one.file, section, one.what)
    return option.key if option else one.what


def _value(one: Difference, written: str) -> str:
    return "a value that is not shown" if one.what.endswith(("pass", "password")) else written
