"""Turns rules into their pages under docs/rules, one for each rule and a list of all.

`python -m slurmwright.report.rule_page docs/rules` writes them; a test holds the pages to the rules.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from slurmwright.catalogue.findings import FindingKind, finding_kinds
from slurmwright.core.files import write_text
from slurmwright.rules.registry import all_rules
from slurmwright.rules.rule import Rule

Described = Rule | FindingKind
FORMAT = "slurmwright/rule/1"
INDEX = "index.md"
_HEAD = """\
# Rules

What `slurmwright lint` looks for, and what `facts check` (FA) and `doctor` (DR) say beside it.
`slurmwright explain ID` prints one of them. Of lint's, a comment `# slurmwright: allow NAME because
REASON` allows one at a line, `allow-file` in a whole file.
This page and those of the rules are made from the rules themselves (`python -m
slurmwright.report.rule_page`).

| id | name | severity | Slurm |
| --- | --- | --- | --- |
"""


def all_described() -> tuple[Described, ...]:
    """Everything that a finding can be, by id."""
    every: tuple[Described, ...] = (*all_rules(), *finding_kinds())
    return tuple(sorted(every, key=lambda one: one.id))


def rule_json(rule: Described) -> dict[str, Any]:
    """One rule as a document; `explain` and the pages show it."""
    return {
        "format": FORMAT,
        "rule": rule.id,
        "name": rule.name,
        "severity": rule.severity.value,
        "scope": _scope(rule),
        "releases": rule.releases,
        "why": rule.why,
        "fix": rule.fix,
        "references": list(rule.references),
    }


def draw_rule(document: Mapping[str, Any]) -> RenderableType:
    """The document as text."""
    head = Text(f"{document['rule']} {document['name']}", style="bold")
    head.append(f"  {document['severity']}", style="none")
    grid = Table.grid(padding=(0, 2))
    rows = [("why", document["why"]), ("fix", document["fix"]), ("Slurm", document["releases"])]
    rows += [("judged from", document["scope"])]
    rows += [("source", reference) for reference in document["references"]]
    for label, text in rows:
        grid.add_row(Text(label, style="dim"), Text(text))
    return Group(head, grid)


def rule_pages(rules: Sequence[Described]) -> dict[str, str]:
    """Every page by its file name, the list too."""
    pages = {f"{rule.id}.md": _page(rule) for rule in rules}
    return {INDEX: _HEAD + "".join(map(_row, rules)), **pages}


def _row(rule: Described) -> str:
    return f"| [{rule.id}]({rule.id}.md) | {_names(rule)} | {rule.severity.value} | {_releases(rule)} |\n"


def _page(rule: Described) -> str:
    lines = [
        f"# {rule.id} {_names(rule)}",
        "",
        f"Severity: {rule.severity.value}. Slurm: {_releases(rule)}. Judged from: {_scope(rule)}.",
        "",
        rule.why,
        "",
        f"To mend it: {rule.fix}",
        "",
        "Sources:",
        "",
        *(f"- {_linked(reference)}" for reference in rule.references),
        "",
    ]
    return "\n".join(lines)


def _linked(reference: str) -> str:
    first, blank, rest = reference.partition(" ")
    return f"<{first}>{blank}{rest}" if first.startswith("http") else reference


def _scope(rule: Described) -> str:
    return rule.scope.value if isinstance(rule, Rule) else rule.scope


def _names(rule: Described) -> str:
    return rule.name if isinstance(rule, Rule) else ", ".join(rule.names)


def _releases(rule: Described) -> str:
    return "all releases" if rule.releases == "all" else rule.releases


def write_pages(folder: Path, rules: Iterable[Described]) -> None:
    """Write every page, and take away those of rules that are gone."""
    pages = rule_pages(tuple(rules))
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.md"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        write_text(folder / name, text)


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]), all_described())
