"""docs/defaults.md: made from the explanations, complete, and up to date."""

from __future__ import annotations

import re
from pathlib import Path

from slurmwright.catalogue.explain import explanations
from slurmwright.report.defaults_page import MARK, generated, page

DOCS = Path(__file__).parents[2] / "docs/defaults.md"


def test_the_page_in_docs_is_the_generated_one() -> None:
    text = DOCS.read_text(encoding="utf-8")
    assert page(text) == text, "run: python -m slurmwright.report.defaults_page docs/defaults.md"


def test_every_explained_key_stands_once_in_its_chapter() -> None:
    chapters = re.split(r"^## ", generated(explanations()), flags=re.MULTILINE)[1:]
    found = sorted(
        (chapter.splitlines()[0], key)
        for chapter in chapters
        for key in re.findall(r"^- \*\*(\w+)\*\*: ", chapter, re.M)
    )
    wanted = sorted(
        (
            entry.file
            if entry.section in ("global", "line", "root")
            else f"{entry.file}, {entry.section} lines",
            entry.key,
        )
        for entry in explanations()
    )
    assert found == wanted


def test_what_is_written_comes_with_value_reason_and_source() -> None:
    text = generated(entry for entry in explanations() if entry.key == "ProctrackType")
    assert text == (
        "\n## slurm.conf\n\n"
        "- **ProctrackType**: How Slurm knows which processes belong to a job.\n"
        "  - written: proctrack/cgroup\n"
        "  - why: A process cannot leave its cgroup, so nothing survives the end of a job with a GPU in its "
        "hands. (slurm.conf(5))\n"
    )


def test_what_is_left_out_is_listed_apart() -> None:
    text = generated(entry for entry in explanations() if entry.name == "gres.conf:Links")
    assert text.startswith("\n## gres.conf\n\n\n### Left out of gres.conf\n\n- **Links**: ")


def test_what_people_wrote_above_the_mark_is_kept() -> None:
    assert page(f"# Mine\n\n{MARK}\nold").startswith(f"# Mine\n\n{MARK}\n\n## slurm.conf\n")
