"""What Slurm takes where a key is left out."""

from __future__ import annotations

import pytest

from slurmwright.catalogue.defaults import default_of, table
from slurmwright.catalogue.options import check_setting, lookup
from slurmwright.core.release import SERIES, Release

ROWS = [
    (file, section, key, value)
    for file, sections in table().files.items()
    for section, keys in sections.items()
    for key, value in keys.items()
]


@pytest.mark.parametrize(("file", "section", "key", "value"), ROWS)
def test_a_default_belongs_to_a_key_of_every_release_that_takes_it(
    file: str, section: str, key: str, value: str
) -> None:
    option = lookup(file, section, key)
    assert option is not None
    assert option.key == key
    assert not option.default, "the key has its own defaults by release"
    problems = [check_setting(Release(series), file, section, key, value) for series in SERIES]
    assert problems == [None] * len(SERIES)


def test_letter_case_of_the_key_does_not_count() -> None:
    assert default_of("slurm.conf", "global", "killwait") == "30"


def test_a_key_without_a_known_default_has_none() -> None:
    assert default_of("slurm.conf", "global", "ClusterName") is None
    assert default_of("slurm.conf", "NodeName", "KillWait") is None
