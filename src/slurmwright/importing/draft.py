"""What is drawn up of a source: the parts of cluster.yaml with notes, and what could not go into them."""

from __future__ import annotations

from dataclasses import dataclass, field

from slurmwright.core.finding import Finding, Severity

Words = dict[str, object]


#: What a finding is about: (file, line, what is said there in lower case; "" for all of the line).
Covered = tuple[str, int, str]


@dataclass(frozen=True)
class Listed:
    """A finding, and the difference between the files that need not be listed a second time."""

    finding: Finding
    covers: Covered | None = None


@dataclass(frozen=True)
class Part:
    """Some keys of cluster.yaml, and what is left out of them."""

    words: Words = field(default_factory=dict)
    listed: tuple[Listed, ...] = ()


def plain(text: str) -> object:
    """A whole number as one, any other text as it is; both are the same text to Slurm."""
    number = text.isascii() and text.isdigit() and len(text) < 18 and (text == "0" or text[0] != "0")
    return int(text) if number else text


def left_out(message: str, file: str, line: int, fix: str = "", name: str = "not-expressed") -> Finding:
    """Something that makes a difference and is not in cluster.yaml."""
    return Finding(f"import/{name}", name, Severity.WARNING, message, file, line, fix=fix)


def remark(message: str, file: str, line: int = 0, fix: str = "", name: str = "remark") -> Finding:
    """Something to know that makes no difference between the files."""
    return Finding(f"import/{name}", name, Severity.INFO, message, file, line, fix=fix)
