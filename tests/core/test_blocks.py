"""Blocks hold whole lines, whatever the stream is cut into."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from slurmwright.core.blocks import line_blocks


@given(data=st.binary(max_size=200), size=st.integers(1, 20))
def test_blocks_are_the_stream_and_end_with_lines(data: bytes, size: int) -> None:
    blocks = list(line_blocks(io.BytesIO(data), size, 1000))
    assert b"".join(blocks) == data
    assert all(block.endswith(b"\n") for block in blocks[:-1])


def test_a_line_without_an_end_is_cut() -> None:
    blocks = list(line_blocks(io.BytesIO(b"x" * 100), 10, 30))
    assert b"".join(blocks) == b"x" * 100
    assert max(map(len, blocks)) == 40
