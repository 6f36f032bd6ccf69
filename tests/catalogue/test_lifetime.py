"""When a row of the catalogue holds, and the sentence that says since when it does not."""

from __future__ import annotations

import pytest

from slurmwright.catalogue.lifetime import Lifetime, span_covers, successor
from slurmwright.core.release import SERIES, Release


def release(text: str) -> Release:
    return Release.parse(text)


@pytest.mark.parametrize(
    ("since", "until", "version", "known"),
    [
        (None, None, "22.05", True),
        ("23.02", None, "22.05", False),
        ("23.02", None, "23.02", True),
        ("23.02.1", None, "23.02", False),
        ("23.02.1", None, "23.02.0", False),
        ("23.02.1", None, "23.02.1", True),
        ("23.02.1", None, "23.11", True),
        (None, "23.11", "23.11", True),
        (None, "23.11", "23.11.4", True),
        (None, "23.11", "24.05", False),
        (None, "23.11.2", "23.11", False),
        (None, "23.11.2", "23.11.2", True),
        ("24.11.4", "24.11", "24.11.5", True),
        ("24.11.4", "24.11", "25.05", False),
        (None, "21.08", "22.05", False),
    ],
)
def test_known_in(since: str | None, until: str | None, version: str, known: bool) -> None:
    row = Lifetime(since=since, until=until)
    assert row.known_in(release(version)) is known
    assert (row.why_not(release(version)) is None) is known


def test_the_release_in_which_it_came_is_named() -> None:
    text = Lifetime(since="25.11").why_not(release("24.11"))
    assert text == "came with Slurm 25.11 and is not known to 24.11"


def test_a_patch_level_that_would_help_is_named() -> None:
    text = Lifetime(since="23.02.1").why_not(release("23.02"))
    assert text == "came with Slurm 23.02.1; give release: 23.02.1 (or later) to use it"


def test_the_release_in_which_it_went_is_named() -> None:
    assert Lifetime(until="22.05").why_not(release("24.11")) == (
        "was dropped in Slurm 23.02 and is not known to 24.11"
    )
    assert Lifetime(until="22.05").why_not(release("23.02")) == "was dropped in Slurm 23.02"


def test_a_version_that_yaml_read_as_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="quote it"):
        Lifetime.model_validate({"since": 24.05})


@pytest.mark.parametrize(
    ("version", "later"), [("22.05", "23.02"), ("23.11.4", "23.11.5"), ("26.05", "after 26.05")]
)
def test_successor(version: str, later: str) -> None:
    assert successor(version) == later


@pytest.mark.parametrize(
    ("span", "covered"),
    [
        ("all", SERIES),
        ("22.05", ("22.05",)),
        ("22.05-23.02", ("22.05", "23.02")),
        ("25.11+", ("25.11", "26.05")),
    ],
)
def test_a_span_covers_its_releases_and_no_other(span: str, covered: tuple[str, ...]) -> None:
    assert tuple(series for series in SERIES if span_covers(span, Release(series))) == covered
