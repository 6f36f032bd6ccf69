"""Two meanings to what differs between them, hosts that differ alike folded into one difference.

A key that one side leaves out and the other sets to Slurm's default makes no difference. The catalogue knows
the plain defaults; those here have several spellings. Where a default is not known a key that only one side
has is a difference.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from slurmwright.catalogue.defaults import default_of
from slurmwright.conf.meaning.said import Key, Meaning, Said, folded

_DEFAULTS: dict[tuple[str, str], tuple[str, ...]] = {
    ("", "accountingstoragetype"): ("accounting_storage/none",),
    ("", "accountingstoragehost"): ("localhost",),
    ("", "topologyplugin"): ("topology/default", "topology/none", "topology/flat"),
    ("", "slurmuser"): ("root",),
    ("", "statesavelocation"): ("/var/spool",),
    ("", "jobcontainertype"): ("job_container/none",),
    ("", "cgroupplugin"): ("autodetect",),
    ("", "authtype"): ("auth/munge",),
    ("node", "weight"): ("1",),
    ("node", "realmemory"): ("1",),
    ("node", "state"): ("unknown", "idle"),
    ("partition", "state"): ("UP",),
    ("partition", "default"): ("no",),
    ("partition", "maxtime"): ("None",),
    ("partition", "prioritytier"): ("1",),
}
_SECTIONS = {"node": "NodeName", "partition": "PartitionName"}


@dataclass(frozen=True)
class Difference:
    """One thing that the two sides say differently; a side is None where it says nothing."""

    file: str
    subject: str
    what: str
    left: Said | None
    right: Said | None


def differences(left: Meaning, right: Meaning) -> tuple[Difference, ...]:
    """What differs, in the order of the left side, then what only the right side says."""
    found: dict[tuple[str, str, str, Said | None, Said | None], list[str]] = {}
    for key in [*left, *(key for key in right if key not in left)]:
        one, other = left.get(key), right.get(key)
        if same(key, one, other):
            continue
        file, subject, what = key
        kind, _, name = subject.partition(" ")
        group = kind if kind == "node" else subject
        found.setdefault((file, group, what, one, other), []).append(name)
    return tuple(
        Difference(file, f"node {folded(names)}" if subject == "node" else subject, what, one, other)
        for (file, subject, what, one, other), names in found.items()
    )


def same(key: Key, one: Said | None, other: Said | None) -> bool:
    """Do two sides say the same of one thing? None stands for a side that does not mention it."""
    if one is not None and other is not None:
        return one.normal == other.normal or {one.normal, other.normal} <= set(_defaults(key))
    said = one or other
    return said is None or said.normal in _defaults(key)


def _defaults(key: Key) -> tuple[str, ...]:
    file, subject, what = key
    return _known(file, subject.partition(" ")[0], what)


@cache
def _known(file: str, kind: str, what: str) -> tuple[str, ...]:
    """The normal forms of a key's default; none where it is not known."""
    stated = default_of(file, _SECTIONS.get(kind, "global"), what)
    return (*_DEFAULTS.get((kind, what), ()), *((stated,) if stated is not None else ()))
