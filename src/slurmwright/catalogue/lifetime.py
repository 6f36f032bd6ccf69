"""Says whether a catalogue row holds for a Slurm release, and if not, in which release it came or went."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from slurmwright.catalogue.read import Row
from slurmwright.core.release import SERIES, Release, split_version


def _version(text: object) -> object:
    if text is not None and not (isinstance(text, str) and len(text.split(".")) in (2, 3)):
        raise ValueError(f"{text!r} is no version; quote it: YAML reads 24.10 as a number")
    return text


Version = Annotated[str, BeforeValidator(_version)]


class Lifetime(Row):
    """`since` is the first version that has it (None: before 22.05), `until` the last (None: still there)."""

    since: Version | None = None
    until: Version | None = None

    def known_in(self, release: Release) -> bool:
        """Does the release surely have it? Without a patch level the first patch counts for what is new."""
        came = self.since is None or release.at_least(self.since)
        return came and (self.until is None or release.at_most(self.until))

    def why_not(self, release: Release) -> str | None:
        """Why the release lacks it, as the end of a sentence that begins with its name; None if it has it."""
        if self.since is not None and not release.at_least(self.since):
            series, patch = split_version(self.since)
            if series == release.series and release.patch is None and patch:
                return f"came with Slurm {self.since}; give release: {self.since} (or later) to use it"
            return f"came with Slurm {self.since} and is not known to {release}"
        if self.until is not None and not release.at_most(self.until):
            gone = successor(self.until)
            return f"was dropped in Slurm {gone}" + (
                "" if gone == str(release) else f" and is not known to {release}"
            )
        return None


def successor(version: str) -> str:
    """The series after the last one that knew something; the patch after a patch level."""
    series, patch = split_version(version)
    if patch is not None:
        return f"{series}.{patch + 1}"
    return next((later for later in SERIES if later > series), f"after {series}")


def span_covers(span: str, release: Release) -> bool:
    """Does `all`, `22.05`, `22.05-23.02` or `23.11+` cover the release?"""
    if span == "all":
        return True
    if span.endswith("+"):
        return release.series >= span[:-1]
    first, _, last = span.partition("-")
    return first <= release.series <= (last or first)
