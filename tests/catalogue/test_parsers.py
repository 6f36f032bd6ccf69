"""What Slurm's own value parsers take and refuse (src/common/parse_value.c)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.parsers import value_problem

TOPS = {"uint16": 2**16 - 1, "uint32": 2**32 - 1, "uint64": 2**64 - 1}


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("uint16", "0"),
        ("uint16", "65535"),
        ("uint16", "0xffff"),
        ("uint16", "010"),
        ("uint16", "UNLIMITED"),
        ("uint16", "infinite"),
        ("uint32", "4K"),
        ("uint32", "4294967295"),
        ("uint64", "16k"),
        ("bool", "YES"),
        ("bool", "down"),
        ("bool", "0"),
        ("float", "98.5"),
        ("float", "1e3"),
        ("float", "unlimited"),
        ("string", '""'),
        ("string", '"two words"'),
        ("lines", "anything"),
    ],
)
def test_taken(kind: str, text: str) -> None:
    assert value_problem(kind, text) is None


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("uint16", "65536", "greater than 65535"),
        ("uint16", "4K", "not a whole number"),
        ("uint16", "-1", "less than zero"),
        ("uint16", "08", "not a whole number"),
        ("uint16", "12s", "not a whole number"),
        ("uint16", "1.5", "not a whole number"),
        ("uint16", '""', "not a whole number"),
        ("uint32", "4194304K", "greater than 4294967295"),
        ("uint64", "2M", "not a whole number"),
        ("bool", "enabled", "not a truth value"),
        ("bool", "on", "not a truth value"),
        ("float", "98.5%", "not a number"),
        ("string", "", "is empty"),
        ("uint16", " ", "is empty"),
        ("string", "a\nSlurmUser=root", "line break"),
        ("string", "a\rb", "line break"),
        ("string", 'a"b', "double quote"),
        ("string", "a#b", "begins a comment"),
    ],
)
def test_refused(kind: str, text: str, says: str) -> None:
    assert says in (value_problem(kind, text) or "")


@settings(max_examples=60)
@given(kind=st.sampled_from(sorted(TOPS)), number=st.integers(-(2**20), 2**66))
def test_a_number_is_taken_exactly_within_its_range(kind: str, number: int) -> None:
    assert (value_problem(kind, str(number)) is None) is (0 <= number <= TOPS[kind])


@settings(max_examples=60)
@given(st.text())
def test_nothing_that_is_taken_can_begin_another_line_or_a_comment(text: str) -> None:
    if value_problem("string", text) is None:
        assert not set(text) & set("\n\r\0#")
