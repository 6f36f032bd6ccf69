"""CPU lists: what the kernel writes, read and written."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.cpu_list import fold_cpus, parse_cpus


@pytest.mark.parametrize(
    ("text", "cpus"),
    [("0", (0,)), ("0-2,5", (0, 1, 2, 5)), ("8-12:2", (8, 10, 12)), ("3,1,1", (1, 3))],
)
def test_a_list_is_read(text: str, cpus: tuple[int, ...]) -> None:
    assert parse_cpus(text) == cpus


@pytest.mark.parametrize(
    "text", ["", "a", "1-", "-1", "5-1", "1-99999999", "0-4:0", "0-4:x", "1-²", "9" * 5000]
)
def test_what_is_no_list_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are for a program, not a person
        parse_cpus(text)


@settings(max_examples=100, deadline=None)
@given(st.sets(st.integers(0, 300), min_size=1))
def test_folding_and_reading_give_the_same_cpus(cpus: set[int]) -> None:
    assert parse_cpus(fold_cpus(cpus)) == tuple(sorted(cpus))
