"""The Slurm that a SPANK plugin was built for, from its bytes alone."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.spank_plugin import plugin_release, release_text, same_series


def elf(number: int, symbol: str = "plugin_version", base: int = 0x2000) -> bytes:
    """A 64-bit little-endian ELF file with one segment at `base`, one dynamic symbol, and its four bytes."""
    names = b"\0" + symbol.encode() + b"\0"
    value_at = 64 + 56
    names_at = value_at + 4
    symbols_at = names_at + len(names)
    sections_at = symbols_at + 48
    header = b"\x7fELF\x02\x01\x01" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, sections_at, 0, 64, 56, 1, 64, 3, 0)
    segment = struct.pack("<IIQQQQQQ", 1, 4, value_at, base, base, 4, 4, 8)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0x11, 0, 1, base, 4)
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 0, 11, 0, 0, symbols_at, 48, 2, 0, 8, 24)
    sections += struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    return header + segment + struct.pack("<I", number) + names + symbols + sections


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
