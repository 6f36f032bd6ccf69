"""Turns the catalogue's effects into docs/effects.md: what each kind of change asks of whom, by release.

`python -m slurmwright.report.effects_page docs/effects.md` writes the page anew.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from slurmwright.catalogue import file_effects
from slurmwright.catalogue.effects import Effect, Rule, rule_text, table

_HEAD = """\
# What a change costs

Made from the catalogue that `slurmwright plan` reads. Slurm 22.05 and 23.02 re-read their files inside the
running daemons at `scontrol reconfigure`, honour part of them, and slurmctld ends where the set of nodes
changed; from 23.11 on reconfigure starts new processes, and the old ones stay when those fail.

"tested" names the daemons on which it was seen with jobs running; where neither they nor a manual page are
named, it was read from the source.
"""


def page() -> str:
    """One chapter for each kind of change, in the catalogue's order, and one for files around Slurm."""
    rows = "".join(_chapter(row) for row in table().effects.values())
    return _HEAD + rows + _files()


def _chapter(row: Effect) -> str:
    lines = [f"\n## {_plain(row.what)}\n\n", "| releases | steps | source |\n| --- | --- | --- |\n"]
    lines += [
        f"| {rule.releases} | {_cell(_steps(rule))} | {_cell(_source(row, rule))} |\n" for rule in row.rules
    ]
    notes = [("Running jobs", row.running_jobs), ("Note", row.note), ("Danger", row.danger)]
    notes += [("Condition", row.condition), ("Also", row.also)]
    lines += [f"\n{label}: {_plain(text)}.\n" for label, text in notes if text]
    return "".join(lines)


def _steps(rule: Rule) -> str:
    words = [rule_text(rule), rule.note, rule.danger and f"danger: {rule.danger}"]
    return "; ".join(word for word in words if word)


def _source(row: Effect, rule: Rule) -> str:
    words = [rule.tested and f"tested {rule.tested}", rule.doc or row.doc, rule.certainty]
    return "; ".join(word for word in words if word) or "source code"


def _files() -> str:
    head = "| files | who starts anew | running jobs | source |\n| --- | --- | --- | --- |\n"
    return "\n## Files around Slurm\n\n" + head + "".join(_file_rows())


def _file_rows() -> Iterator[str]:
    for row in file_effects.table().effects.values():
        who = [name for name in ("slurmdbd", "slurmctld", "slurmd") if getattr(row, name) == "restart"]
        who += [row.unit] if row.unit else []
        told = ", ".join(who) or "nobody"
        told += "; drain the host first" if row.drain else ""
        paths = ", ".join(f"`{path}`" for path in row.paths)
        yield f"| {paths} | {told} | {_cell(row.jobs)} | {_cell(row.source)} |\n"


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def _plain(text: str) -> str:
    """Text in which Markdown sees no emphasis and no tag."""
    return re.sub(r"([*_<>\[])", r"\\\1", " ".join(text.split()).rstrip("."))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
