"""What a rule is: one fault with its id, name, severity, reason and remedy, and the check that finds it.

The name reads well after "allow": `# slurmwright: allow gpus-unconstrained because …`. A check gets one
host's `Evidence` and yields a `Fault` for each place; everything else of a finding comes from the rule.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from slurmwright.catalogue.lifetime import span_covers
from slurmwright.conf import Document
from slurmwright.conf.changes import Changes
from slurmwright.core.finding import Severity
from slurmwright.core.release import Release

if TYPE_CHECKING:
    from slurmwright.rules.evidence import Evidence

CRITICAL, ERROR, WARNING, INFO = Severity.CRITICAL, Severity.ERROR, Severity.WARNING, Severity.INFO

_ID = re.compile(r"[A-Z]{2}\d{3}\Z")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+\Z")


class Scope(str, enum.Enum):
    """What a rule needs to see: the configuration files, the inventory too, what a host showed, a living
    cluster, or a job."""

    CONFIG = "config"
    CLUSTER = "cluster"
    FACTS = "facts"
    LIVE = "live"
    JOB = "job"


class Place(NamedTuple):
    """A line of a file, named by its path on the host; line 0 is the whole file."""

    file: str
    line: int = 0


NOWHERE = Place("")


class Repair(NamedTuple):
    """What `--fix` does: changes of one document, computed with `conf.changes`."""

    doc: Document
    changes: Changes


@dataclass(frozen=True)
class Fault:
    """One place where the fault is. `fix` is the line to paste here; `about` tells faults of one line apart.

    `severity` is given only where this place is less or more severe than the rule says.
    """

    message: str
    place: Place = NOWHERE
    fix: str = ""
    evidence: tuple[str, ...] = ()
    severity: Severity | None = None
    about: str = ""
    repair: Repair | None = None


Check = Callable[["Evidence"], Iterable[Fault]]


@dataclass(frozen=True)
class Rule:
    """One fault. `releases` is the span it can occur in; `by_release` says that its check reads the
    release."""

    id: str
    name: str
    severity: Severity
    why: str
    fix: str
    references: tuple[str, ...]
    check: Check = field(repr=False, compare=False)
    scope: Scope = Scope.CONFIG
    releases: str = "all"
    by_release: bool = False

    def holds_in(self, release: Release) -> bool:
        """Can the fault occur in this release?"""
        return span_covers(self.releases, release)

    @property
    def varies(self) -> bool:
        """Does a finding depend on the release?"""
        return self.by_release or self.releases != "all"


def rule(
    id: str,  # noqa: A002 - the word that reports use
    name: str,
    severity: Severity,
    *,
    why: str,
    fix: str,
    references: tuple[str, ...],
    scope: Scope = Scope.CONFIG,
    releases: str = "all",
    by_release: bool = False,
) -> Callable[[Check], Rule]:
    """Make a rule of a check; the module's docstring is not shown to anybody but its readers."""
    if not _ID.match(id) or not _NAME.match(name):
        raise ValueError(f"{id} {name}: expected an id such as GR003 and a name such as cores-as-cpu-ids")

    def make(check: Check) -> Rule:
        return Rule(
            id, name, severity, _flat(why), _flat(fix), references, check, scope, releases, by_release
        )

    return make


def _flat(text: str) -> str:
    return " ".join(text.split())
