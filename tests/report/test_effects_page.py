"""docs/effects.md is what the catalogue says."""

from __future__ import annotations

from pathlib import Path

from slurmwright.catalogue.effects import table
from slurmwright.report.effects_page import page

PAGE = Path(__file__).parents[2] / "docs" / "effects.md"


def test_the_page_in_docs_is_made_from_the_catalogue() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run: python -m slurmwright.report.effects_page docs/effects.md"
    )


def test_every_row_has_a_chapter_and_every_table_row_three_cells() -> None:
    text = page()
    assert text.count("\n## ") == len(table().effects) + 1
    rows = [line for line in text.partition("## Files around")[0].splitlines() if line.startswith("| ")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {4}
