"""A plan holds no password: the host's own file gives it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.apply.passwords import blank, filled, has_password
from slurmwright.core.errors import InputError

PLANNED = "DbdHost=db1\nStoragePass=@SLURMWRIGHT_STORAGE_PASSWORD@\nDebugLevel=info\n"


@settings(max_examples=60, deadline=None)
@given(st.text("abcXYZ019!$%&/()[]{}+*~", min_size=1, max_size=30))
def test_the_password_of_the_host_is_filled_in(password: str) -> None:
    held = f"DbdHost=old\nStoragePass={password}\n"
    assert filled(PLANNED, held, "/x") == PLANNED.replace("@SLURMWRIGHT_STORAGE_PASSWORD@", password)


@settings(max_examples=60, deadline=None)
@given(st.text("abcXYZ019!$%&/()[]{}+*~", min_size=1, max_size=30))
def test_two_texts_that_differ_in_passwords_alone_are_the_same(password: str) -> None:
    held = PLANNED.replace("@SLURMWRIGHT_STORAGE_PASSWORD@", password)
    assert blank(held) == blank(PLANNED)
    assert blank(held) != blank(PLANNED.replace("info", "debug"))


def test_a_masked_password_of_an_edited_file_is_filled_in_too() -> None:
    assert filled("StoragePass=@SLURMWRIGHT_HIDDEN@\n", "StoragePass=word\n", "/x") == "StoragePass=word\n"


def test_a_file_without_passwords_stays_as_it_is() -> None:
    assert not has_password("KillWait=5\n")
    assert filled("KillWait=5\n", "", "/x") == "KillWait=5\n"


@pytest.mark.parametrize(
    ("planned", "held"),
    [
        ("StoragePass=@SLURMWRIGHT_HIDDEN@\n", "DbdHost=db1\n"),
        ("StoragePass=@SLURMWRIGHT_HIDDEN@\n", ""),
        ("StoragePass=@SLURMWRIGHT_HIDDEN_AND_CHANGED@\n", "StoragePass=word\n"),
        ("StoragePass=@SLURMWRIGHT_HIDDEN@\n", "StoragePass=@SLURMWRIGHT_STORAGE_PASSWORD@\n"),
    ],
)
def test_a_password_that_nobody_knows_is_refused_and_never_written_as_its_mask(
    planned: str, held: str
) -> None:
    with pytest.raises(InputError, match="without a plan"):
        filled(planned, held, "/etc/slurm/slurmdbd.conf")
