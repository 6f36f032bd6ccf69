"""IN002: a comment that means to allow something and does not, for want of a reason or of a rule."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from slurmwright.core.errors import did_you_mean
from slurmwright.rules.evidence import Evidence
from slurmwright.rules.rule import WARNING, Fault, Place, rule
from slurmwright.rules.suppress import allowed, unknown_names

#: The nearest name is looked for so often; a file with more is not written by hand.
_MOST = 20


@rule(
    "IN002",
    "comments-without-reason",
    WARNING,
    why="""Whoever reads the file after you must know why a fault is left in it; a comment without a reason,
        or with a name that is no rule's, allows nothing.""",
    fix="# slurmwright: allow GR003 because the reason",
    references=("how-to/write-a-rule.md: comments that allow a fault",),
)
def check(seen: Evidence) -> Iterator[Fault]:
    from slurmwright.rules.registry import rules_by_name  # this module is one of those it finds

    rules = rules_by_name()
    for path, file in seen.files.items():
        comments = allowed(file.text)
        for one in comments:
            if one.problem:
                yield Fault(f"the comment allows nothing: it {one.problem}", Place(path, one.line))
        for line, name in itertools.islice(unknown_names(comments, rules), _MOST):
            near = did_you_mean(name, rules)
            yield Fault(
                f"the comment allows '{name}', which is no rule; {near}", Place(path, line), about=name
            )
