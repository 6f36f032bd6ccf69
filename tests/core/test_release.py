"""Releases: a series without a patch level is taken for its first patch when something came, its last when
something went."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmwright.core.errors import InputError
from slurmwright.core.release import SERIES, Release, split_version

_releases = st.builds(Release, st.sampled_from(SERIES), st.none() | st.integers(0, 30))


@given(_releases)
def test_a_release_is_read_as_it_is_written(release: Release) -> None:
    assert Release.parse(str(release)) == release


@pytest.mark.parametrize("text", ["24.10", "2411", "24.11.", "24.11.100", "v24.11", "24.11 ", "", "24.1१"])
def test_what_is_no_known_release_is_one_line(text: str) -> None:
    with pytest.raises(InputError, match=r"is not known; expected a series such as 24\.11") as caught:
        Release.parse(text)
    assert len(caught.value.problems) == 1


def test_a_near_release_is_suggested() -> None:
    with pytest.raises(InputError, match=r"did you mean '24\.11'\?"):
        Release.parse("24.111")


@pytest.mark.parametrize(
    ("release", "version", "surely"),
    [
        ("24.11", "24.11", True),
        ("24.11", "24.11.0", True),
        ("24.11", "24.11.4", False),
        ("24.11.4", "24.11.4", True),
        ("24.11.10", "24.11.9", True),
        ("25.05", "24.11.4", True),
        ("24.05.8", "24.11", False),
    ],
)
def test_at_least_is_true_only_where_it_is_sure(release: str, version: str, surely: bool) -> None:
    assert Release.parse(release).at_least(version) is surely


@pytest.mark.parametrize(
    ("release", "version", "surely"),
    [
        ("24.11", "24.11", True),
        ("24.11.9", "24.11", True),
        ("24.11", "24.11.4", False),
        ("24.11.4", "24.11.4", True),
        ("24.11.5", "24.11.4", False),
        ("24.05", "24.11.4", True),
        ("25.05", "24.11.4", False),
    ],
)
def test_at_most_is_true_only_where_it_is_sure(release: str, version: str, surely: bool) -> None:
    assert Release.parse(release).at_most(version) is surely


def test_series_are_in_the_order_of_time() -> None:
    assert list(SERIES) == sorted(SERIES)
    assert (SERIES[0], SERIES[-1]) == ("22.05", "26.05")


def test_a_version_is_taken_apart() -> None:
    assert split_version("24.11.5") == ("24.11", 5)
    assert split_version("24.11") == ("24.11", None)
