"""Turns a value as written in a Slurm file into what Slurm's parser would say against it, or nothing.

Numbers go through C's strtoul with base 0: `010` is eight and `0x10` sixteen; 32 and 64 bit ones take a `K`
(Slurm source: src/common/parse_value.c, the same in 22.05 and 26.05).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

_NUMBER = re.compile(r"\s*\+?(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)([kK]?)\Z", re.ASCII)
_FLOAT = re.compile(r"\s*[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|inf(inity)?|nan)\Z", re.I)
_ENDLESS = ("unlimited", "infinite")
_TRUTH = ("yes", "up", "true", "1", "no", "down", "false", "0")


def value_problem(kind: str, text: str) -> str | None:
    """A sentence when `text` is no value of parser type `kind` (`uint16`, `bool`, `string` ...)."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        return "holds a line break or control character, which would begin another line of the file"
    bare = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if '"' in bare:
        return "holds a double quote, which Slurm's files cannot escape"
    if "#" in bare:
        return "holds '#', which begins a comment"
    if not text.strip():
        return 'is empty, which Slurm takes for a parse error; write "" for an empty string'
    check = _CHECKS.get(kind)
    return check(bare) if check else None


def _integer(bits: int, kilo: bool) -> Callable[[str], str | None]:
    top = 2**bits - 1

    def check(text: str) -> str | None:
        if text.lower() in _ENDLESS:
            return None
        if re.match(r"\s*-\d", text):
            return f"'{text}' is less than zero; expected 0 to {top}"
        match = _NUMBER.match(text)
        if not match or (match[2] and not kilo):
            return f"'{text}' is not a whole number; expected 0 to {top} or UNLIMITED"
        number = _c_integer(match[1]) * (1024 if match[2] else 1)
        return None if number <= top else f"'{text}' is greater than {top}"

    return check


def _c_integer(text: str) -> int:
    if text[:2].lower() == "0x":
        return int(text, 16)
    return int(text, 8) if text.startswith("0") else int(text)


def _float(text: str) -> str | None:
    if text.lower() in _ENDLESS or _FLOAT.match(text):
        return None
    return f"'{text}' is not a number; expected for example 98.5"


def _bool(text: str) -> str | None:
    if text.lower() in _TRUTH:
        return None
    return f"'{text}' is not a truth value; expected yes or no (also up, true, 1 and down, false, 0)"


_CHECKS: Mapping[str, Callable[[str], str | None]] = MappingProxyType(
    {
        "uint16": _integer(16, kilo=False),
        "uint32": _integer(32, kilo=True),
        "uint64": _integer(64, kilo=True),
        "float": _float,
        "bool": _bool,
    }
)
