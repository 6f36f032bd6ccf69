"""The least bytes that are a SPANK plugin, for both readers of its version: the package's and the role's."""

from __future__ import annotations

import struct


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
