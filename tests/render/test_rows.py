"""Overrides change a rendered list in place, add what is new, and leave out what is null."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.conf import parse
from slurmwright.core.errors import InputError
from slurmwright.model.cluster import Setting
from slurmwright.render.rows import Line, Section, override, place, setting

BASE = (
    Section("First.", (setting("A", "1"), setting("Words", "one,two=2"))),
    Section("Nodes.", (Line((("NodeName", "n1"), ("CPUs", "2"))),)),
)


def applied(wanted: dict[str, Setting]) -> list[str]:
    return [line.text for section in override(BASE, wanted) for line in section.lines]


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [
        ({}, ["A=1", "Words=one,two=2", "NodeName=n1 CPUs=2"]),
        ({"A": "5"}, ["A=5", "Words=one,two=2", "NodeName=n1 CPUs=2"]),
        ({"a": "5"}, ["A=5", "Words=one,two=2", "NodeName=n1 CPUs=2"]),
        ({"A": None}, ["Words=one,two=2", "NodeName=n1 CPUs=2"]),
        ({"New": None}, ["A=1", "Words=one,two=2", "NodeName=n1 CPUs=2"]),
        ({"Words": ("x", "y")}, ["A=1", "Words=x,y", "NodeName=n1 CPUs=2"]),
        ({"Words": {"two": "7", "three": True}}, ["A=1", "Words=one,two=7,three", "NodeName=n1 CPUs=2"]),
        ({"Words": {"TWO": False}}, ["A=1", "Words=one", "NodeName=n1 CPUs=2"]),
        ({"Words": {"one": False, "two": False}}, ["A=1", "NodeName=n1 CPUs=2"]),
        ({"New": {"x": True, "y": "2"}}, ["A=1", "Words=one,two=2", "NodeName=n1 CPUs=2", "New=x,y=2"]),
        ({"NodeName": "n2"}, ["A=1", "Words=one,two=2", "NodeName=n1 CPUs=2", "NodeName=n2"]),
    ],
)
def test_an_override_is_applied_last(wanted: dict[str, Setting], lines: list[str]) -> None:
    assert applied(wanted) == lines


def test_what_overrides_add_stands_under_its_own_title() -> None:
    assert override(BASE, {"New": "1"})[-1] == Section(
        "From overrides in cluster.yaml.", (setting("New", "1"),)
    )


def test_the_template_places_titles_comments_and_lines() -> None:
    sections = (Section("Why.", (Line((("A", "1"), ("B", "x y")), ("note",)),)), Section("Empty.", ()))
    assert place("slurm_file.j2", "pod", sections) == (
        "# Rendered by slurmwright for pod. Changes belong in cluster.yaml: this file is written anew.\n"
        "\n# Why.\n# note\n"
        'A=1 B="x y"\n'
    )


def test_a_value_that_would_begin_another_line_is_refused() -> None:
    with pytest.raises(InputError):
        place("slurm_file.j2", "pod", (Section("Why.", (setting("A", "1\nB=2"),)),))


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.lists(
            st.tuples(
                st.from_regex(r"[A-Z][A-Za-z]{0,8}", fullmatch=True),
                st.text(
                    st.characters(min_codepoint=32, max_codepoint=126, exclude_characters='"'), max_size=12
                ),
            ),
            min_size=1,
            max_size=3,
        ),
        max_size=6,
    )
)
def test_slurms_grammar_reads_back_what_was_placed(drawn: list[list[tuple[str, str]]]) -> None:
    rows = [[("NodeName", "n1"), *pairs] for pairs in drawn if "Include" not in dict(pairs)]
    lines = tuple(Line(tuple(pairs), ("a note",)) for pairs in rows)
    document = parse(place("slurm_file.j2", "pod", (Section("Why.", lines),)), "slurm.conf")
    assert [[(pair.key, pair.value) for pair in line.pairs] for line in document.statements] == rows
