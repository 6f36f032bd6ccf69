"""Comments such as `# slurmwright: allow GR003 because …` to the findings that they allow.

A comment holds for its own line or, standing alone, for the next line that is no comment; `allow-file`
holds for the whole file. A reason is mandatory: without one nothing is allowed, and that is a finding
itself.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from typing import NamedTuple

#: The end of a word that may stand between the names and the reason.
_COMMENT = re.compile(
    r"(?:\#|<!--|//|;)[ \t]*slurmwright:[ \t]*(?P<verb>allow-file|allow|\S+)[ \t]*(?P<rest>[^\n]*)", re.I
)
_REST = re.compile(
    r"(?P<names>[\w-]+(?:[ \t]*,[ \t]*[\w-]+)*)(?:[ \t]*(?:because|--|:|—)[ \t]*(?P<reason>.*))?", re.I
)
_MIN_REASON = 5


class Allowed(NamedTuple):
    """One comment: the rules it names (ids or names, lower case), its line, the line it is for (0: the
    file)."""

    names: frozenset[str]
    line: int
    target: int
    problem: str = ""


def allowed(text: str) -> tuple[Allowed, ...]:
    """Every comment of a file that allows something, or fails to."""
    if "slurmwright:" not in text.lower():
        return ()
    return tuple(_found(text.split("\n")))


def _found(lines: list[str]) -> Iterator[Allowed]:
    targets = _targets(lines)
    for number, line in enumerate(lines, 1):
        match = _COMMENT.search(line[:2000])
        if match is None:
            continue
        verb = match["verb"].lower()
        if verb not in ("allow", "allow-file"):
            problem = f"says '{match['verb']}'; expected allow or allow-file"
            yield Allowed(frozenset(), number, number, problem)
            continue
        rest = _REST.match(match["rest"].removesuffix("-->").strip())
        names = frozenset(word.strip().lower() for word in rest["names"].split(",")) if rest else frozenset()
        reason = (rest["reason"] or "").strip() if rest else ""
        problem = ""
        if not names:
            problem = "names no rule; expected for example: slurmwright: allow GR003 because REASON"
        elif len(reason) < _MIN_REASON:
            problem = "gives no reason; write: slurmwright: allow RULE because REASON"
        target = 0 if verb == "allow-file" else targets[number - 1]
        yield Allowed(names, number, target, problem)


def _targets(lines: list[str]) -> list[int]:
    """For each line itself, or where only a comment stands on it the next line that says something."""
    found = [0] * len(lines)
    target = 0
    for at in range(len(lines) - 1, -1, -1):
        if lines[at].strip() and not _only_comment(lines[at]):
            target = at + 1
        found[at] = target or at + 1
    return found


def _only_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "<!--", "//", ";"))


def is_allowed(rule: str, name: str, line: int, comments: tuple[Allowed, ...]) -> bool:
    """Does a comment with a reason allow this rule at this line?"""
    return any(
        not one.problem and one.target in (0, line) and (rule.lower() in one.names or name in one.names)
        for one in comments
    )


def unknown_names(comments: tuple[Allowed, ...], known: Container[str]) -> Iterator[tuple[int, str]]:
    """Names in comments that are no rule's, with their lines."""
    for one in comments:
        for name in sorted(one.names):
            if not one.problem and name not in known:
                yield one.line, name
