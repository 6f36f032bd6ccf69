"""The Slurm that a SPANK plugin was built for, from its bytes alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.spank_bytes import elf

from slurmwright.core.spank_plugin import plugin_release, release_text, same_series


@given(st.integers(0, 0xFFFFFF), st.integers(1, 1 << 40))
def test_the_three_numbers_are_found_wherever_the_segment_is_loaded(number: int, base: int) -> None:
    assert plugin_release(elf(number, base=base)) == (number >> 16, number >> 8 & 255, number & 255)


def test_a_release_is_written_as_slurm_writes_it() -> None:
    assert release_text(elf(0x160508)) == "22.05.8"


def test_a_library_that_is_no_slurm_plugin_is_named_so() -> None:
    with pytest.raises(ValueError, match="it has no symbol plugin_version"):
        plugin_release(elf(1, symbol="plugin_versions"))


@settings(max_examples=100)
@given(st.binary(max_size=400) | st.integers(0, 300).map(lambda end: elf(0x180B05)[:end]))
def test_any_other_bytes_are_refused_with_a_reason(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        plugin_release(data)


def test_slurm_compares_two_numbers() -> None:
    assert same_series("24.11.5", "24.11")
    assert not same_series("24.05.5", "24.11.5")
