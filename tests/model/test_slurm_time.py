"""Slurm's time limits, as time_str2secs in src/common/parse_time.c reads them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.model.slurm_time import minutes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("60", 60),
        ("90:30", 91),
        ("1:30:00", 90),
        ("7-0", 10080),
        ("1-2:30", 1590),
        ("7-00:00:00", 10080),
        ("0:0:1", 1),
        ("0", 0),
        ("UNLIMITED", None),
        ("infinite", None),
        ("-1", None),
    ],
)
def test_every_form_of_slurm_is_read(text: str, expected: int | None) -> None:
    assert minutes(text) == expected


@pytest.mark.parametrize(
    "text", ["", "7d", "1h", "7-", "-7", "1:2:3:4", "1-2-3", "1:", " 60", "60 ", "１", "7-00:00:00\n"]
)
def test_anything_else_is_refused_with_the_forms(text: str) -> None:
    with pytest.raises(ValueError, match="is not a time; expected minutes, minutes:seconds"):
        minutes(text)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 900), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59))
def test_days_and_clock_add_up(days: int, hours: int, mins: int, secs: int) -> None:
    expected = days * 1440 + hours * 60 + mins + (secs > 0)
    assert minutes(f"{days}-{hours:02}:{mins:02}:{secs:02}") == expected
