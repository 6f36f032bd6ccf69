"""Turns the explanations of the catalogue into the second half of docs/defaults.md.

`python -m slurmwright.report.defaults_page docs/defaults.md` writes the page anew; what stands above the mark
is written by hand and kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from slurmwright.catalogue.explain import Explanation, explanations

MARK = "<!-- From here on the page is made from the catalogue: python -m slurmwright.report.defaults_page -->"
_LEFT_OUT = "not written"


def page(old: str) -> str:
    """The page with its generated half made anew."""
    return old.partition(MARK)[0] + MARK + "\n" + generated(explanations())


def generated(entries: Iterable[Explanation]) -> str:
    """One chapter for each file and kind of line: what is written with its reason, then what is left out."""
    return "".join(
        _chapter(_title(file, section), list(rows))
        for (file, section), rows in groupby(entries, lambda entry: (entry.file, entry.section))
    )


def _title(file: str, section: str) -> str:
    return file if section in ("global", "line", "root") else f"{file}, {section} lines"


def _chapter(title: str, entries: list[Explanation]) -> str:
    written = [_entry(entry) for entry in entries if not entry.value.startswith(_LEFT_OUT)]
    left = [_left_out(entry) for entry in entries if entry.value.startswith(_LEFT_OUT)]
    parts = [f"\n## {title}\n\n", *written]
    if left:
        parts += [f"\n### Left out of {title}\n\n", *left]
    return "".join(parts)


def _entry(entry: Explanation) -> str:
    since = "" if entry.option.since is None else f" From {entry.since}."
    return (
        f"- **{entry.key}**: {_plain(entry.does)}{since}\n"
        f"  - written: {_plain(entry.value)}\n"
        f"  - why: {_plain(entry.why)} ({_plain(entry.source)})\n"
    )


def _left_out(entry: Explanation) -> str:
    value = entry.value.removeprefix(_LEFT_OUT).lstrip(";, ")
    return f"- **{entry.key}**: {_plain(entry.why)}" + (f" ({_plain(value)})" if value else "") + "\n"


def _plain(text: str) -> str:
    """Text in which Markdown sees no emphasis and no tag."""
    return text.replace("*", "\\*").replace("_", "\\_").replace("<", "\\<")


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.write_text(page(target.read_text(encoding="utf-8")), encoding="utf-8")
