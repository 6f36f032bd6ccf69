"""Host ranges: what they expand to, what they fold to, and what is refused with which words."""

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold, fold_in_order


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu1", ("gpu1",)),
        ("gpu[1-3]", ("gpu1", "gpu2", "gpu3")),
        ("gpu[08-11]", ("gpu08", "gpu09", "gpu10", "gpu11")),
        ("gpu[98-101]", ("gpu98", "gpu99", "gpu100", "gpu101")),
        ("10.0.0.[9,3]", ("10.0.0.9", "10.0.0.3")),
        ("b1,a[2,1]", ("b1", "a2", "a1")),
        ("r[1-2]n[2,1]", ("r1n2", "r1n1", "r2n2", "r2n1")),
        ("n[1-2].pod", ("n1.pod", "n2.pod")),
    ],
)
def test_a_range_expands_in_written_order(text: str, names: tuple[str, ...]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not a host range"),
        ("../etc", "not a host range"),
        ("gpu[1-3", "a bracket is not closed"),
        ("gpu]1[", "a bracket is not closed"),
        ("gpu[]", "neither a number nor a span"),
        ("gpu[a-c]", "neither a number nor a span"),
        ("gpu[5-1]", "'5-1' falls"),
        ("gpu[1-010]", "padded differently"),
        ("gpu1,,gpu2", "nothing between two commas"),
        ("-gpu", "not a host name"),
        ("gpu..1", "not a host name"),
        ("gpu[1-999999999]", "spans more than 200000"),
        ("a[1-1000]b[1-1000]", "more than 200000 hosts"),
        ("@all", "not a host range"),
        ("g" * 300, "not a host name"),
    ],
)
def test_what_is_no_range_is_refused_with_the_reason(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        expand(text)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ag01-,[]. ", max_size=24))
def test_any_text_expands_or_is_an_input_error(text: str) -> None:
    with contextlib.suppress(InputError):
        assert expand(text)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.integers(0, 300), min_size=1, max_size=40), st.integers(1, 3))
def test_folding_loses_no_name(numbers: set[int], width: int) -> None:
    names = {f"gpu{number:0{width}d}" for number in numbers}
    assert set(expand(fold(names))) == names


def test_a_list_whose_order_matters_is_not_sorted() -> None:
    assert fold_in_order(["10.0.0.9", "10.0.0.3"]) == "10.0.0.[9,3]"
    assert fold_in_order(["10.0.0.3", "10.0.0.4"]) == "10.0.0.[3-4]"
    assert fold_in_order(["10.0.0.1", "10.0.0.2", "10.0.1.1"]) == "10.0.0.[1-2],10.0.1.1"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.from_regex(r"[ab]\.?[0-9]{1,3}", fullmatch=True), min_size=1, max_size=30))
def test_folding_in_order_keeps_every_name_in_its_place(names: list[str]) -> None:
    assert list(expand(fold_in_order(names))) == names
