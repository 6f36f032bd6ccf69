"""docs/reference-cluster-yaml.md: made from the schema, with every key of every mapping."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from slurmwright.model.schema import cluster_schema
from slurmwright.report.reference_page import page, title

DOCS = Path(__file__).parents[2] / "docs/reference-cluster-yaml.md"


def test_the_page_in_docs_is_the_generated_one() -> None:
    made = page(cluster_schema())
    assert DOCS.read_text(encoding="utf-8") == made, (
        "run: python -m slurmwright.report.reference_page docs/reference-cluster-yaml.md"
    )


def test_every_mapping_is_a_chapter_with_all_of_its_keys() -> None:
    schema = cluster_schema()
    chapters = dict(
        chapter.split("\n", 1) for chapter in re.split(r"^## ", page(schema), flags=re.MULTILINE)[1:]
    )
    wanted = {"The file": schema, **{title(name): entry for name, entry in schema["$defs"].items()}}
    assert {name: re.findall(r"^- `(\w+)`", text, re.MULTILINE) for name, text in chapters.items()} == {
        name: list(entry["properties"]) for name, entry in wanted.items()
    }


def test_a_key_says_what_it_takes_and_whether_it_must_be_there() -> None:
    lines = page(cluster_schema()).splitlines()
    assert '- `slurm` (*Slurm*, required): the Slurm to write for, {release: "24.11"}' in lines
    assert "- `priority_tier` (whole number): partitions of a higher tier go first" in lines
    assert any(line.startswith("- `nodes` (`all` or *Node choice*, required): which nodes") for line in lines)


def test_every_word_in_italics_is_a_chapter() -> None:
    text = page(cluster_schema())
    headings = set(re.findall(r"^## (.*)$", text, re.MULTILINE))
    assert set(re.findall(r"(?<=[ (])\*([A-Z][\w ]+)\*", text)) <= headings


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("NodeGroup", "Node group"),
        ("GpuChoice", "GPU choice"),
        ("MigLayout", "MIG layout"),
        ("NvLink", "NVLink"),
    ],
)
def test_names_of_the_schema_become_words(name: str, heading: str) -> None:
    assert title(name) == heading
