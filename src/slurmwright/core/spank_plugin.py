"""The bytes of a SPANK plugin to the Slurm release that it was built for; nothing is executed.

Slurm compares the two upper bytes of the plugin's `plugin_version` with its own (src/common/plugin.c of 22.05
to 26.05: for type spank the mask is 0xffff00), so a patch level makes no difference. `spank_plugin_version`
is the plugin's own number, which nothing compares. Role pyxis reads the same on hosts, where this package is
not (roles/pyxis/library/spank_plugin.py).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

_SYMBOL = b"plugin_version\0"
_DYNSYM, _LOAD = 11, 1


def plugin_release(data: bytes) -> tuple[int, int, int]:
    """(24, 11, 5) from the bytes of a plugin; raises ValueError with the reason for anything else."""
    if data[:4] != b"\x7fELF" or len(data) < 64 or data[4] != 2:
        raise ValueError("not a 64-bit ELF file")
    order = "<" if data[5] == 1 else ">"
    try:
        number = struct.unpack_from(order + "I", data, _place(data, order))[0]
    except (IndexError, struct.error):
        raise ValueError("the ELF file is cut short") from None
    return number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF


def release_text(data: bytes) -> str:
    """24.11.5, as Slurm writes it; raises ValueError as above."""
    return "{:02d}.{:02d}.{}".format(*plugin_release(data))


def same_series(built: str, runs: str) -> bool:
    """Does Slurm `runs` load a plugin that was built for `built`?"""
    return built.split(".")[:2] == runs.split(".")[:2]


def _place(data: bytes, order: str) -> int:
    """Where the number lies in the file: at the dynamic symbol's address, in the segment that holds it."""
    sections = list(_headers(data, order, 40, 58, "IIQQQQI"))
    for _, kind, _, _, offset, length, link in sections:
        for at in range(offset, offset + length, 24) if kind == _DYNSYM else ():
            word, _, _, _, address, _ = struct.unpack_from(order + "IBBHQQ", data, at)
            start = sections[link][4] + word
            if address and data[start : start + len(_SYMBOL)] == _SYMBOL:
                return _in_file(data, order, address)
    raise ValueError("no Slurm plugin: it has no symbol plugin_version")


def _in_file(data: bytes, order: str, address: int) -> int:
    for kind, _, offset, base, _, length in _headers(data, order, 32, 54, "IIQQQQ"):
        if kind == _LOAD and base <= address < base + length:
            return int(offset + address - base)
    raise ValueError("the symbol lies in no segment of the file")


def _headers(data: bytes, order: str, start_at: int, size_at: int, form: str) -> Iterator[tuple[int, ...]]:
    """The rows of one of the file's two tables (elf(5))."""
    start = struct.unpack_from(order + "Q", data, start_at)[0]
    size, count = struct.unpack_from(order + "HH", data, size_at)
    for number in range(count):
        yield struct.unpack_from(order + form, data, start + size * number)
