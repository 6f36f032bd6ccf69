"""A stream of bytes to blocks of whole lines, in memory that does not grow with the stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO


def line_blocks(stream: BinaryIO, size: int, longest: int) -> Iterator[bytes]:
    """Blocks that end with a line, read `size` bytes at a time.

    A line that has not ended after `longest` bytes is cut there, so that a log without line feeds costs no
    more memory than one with them.
    """
    rest = b""
    while data := stream.read(size):
        cut = data.rfind(b"\n") + 1
        if cut:
            yield rest + data[:cut]
            rest = data[cut:]
        else:
            rest += data
            if len(rest) > longest:
                yield rest
                rest = b""
    if rest:
        yield rest
