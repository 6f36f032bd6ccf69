"""A variable of NCCL and a value to what NCCL reads instead, where that is not what is written."""

from __future__ import annotations

import re

from slurmwright.catalogue.nccl_variables import Variable, path_levels
from slurmwright.catalogue.nccl_versions import NcclVersion
from slurmwright.topology.nccl_grammar import c_int

_NUMBER = re.compile(r"\s*[+-]?(0[xX][0-9a-fA-F]+|\d+)\Z")
_UNIT = re.compile(r"(\d+)\s*([kKmMgG])(i?[bB])?\Z")
_POWER = {"k": 10, "m": 20, "g": 30}
_TRUE = ("true", "yes", "on")
_ALGORITHMS = ("ring", "tree", "collnet", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat")
_PROTOCOLS = ("ll", "ll128", "simple")
#: Words that NCCL compares without regard to case.
_ANY_CASE = ("NCCL_DEBUG", "NCCL_NET")

Misread = tuple[str, str]


def misread(variable: Variable, value: str, version: NcclVersion) -> Misread | None:
    """What NCCL makes of the value and the line to write, or None where it reads what is written."""
    if variable.type == "path_level":
        return _level(variable, value)
    words = _words(variable)
    if variable.type in ("int", "uint64", "bool") or (variable.type == "enum" and not words):
        return _number(variable, value, version)
    if variable.type == "enum" and words:
        return _word(variable, value, words)
    return None


def _level(variable: Variable, value: str) -> Misread | None:
    if value in path_levels() or value == "PORT" or re.fullmatch(r"\d{1,9}", value):
        return None
    near = value.upper() if value.upper() in path_levels() else "PXB"
    return "no level that NCCL knows; it is ignored", f"{variable.name}={near}"


def _number(variable: Variable, value: str, version: NcclVersion) -> Misread | None:
    if _NUMBER.match(value):
        allowed = _numbers(variable)
        if variable.type == "enum" and allowed and c_int(value) not in allowed:
            told = ", ".join(map(str, sorted(allowed)))
            return f"the values are {told}", f"{variable.name}={variable.default_text or min(allowed)}"
        return None
    # From 2.29 a few switches are true booleans (DEFINE_NCCL_PARAM); their default in the source is a word.
    if variable.default in ("true", "false") and value in ("true", "false") and version.at_least("2.29"):
        return None
    unit = _UNIT.match(value)
    if unit:
        whole = int(unit[1]) << _POWER[unit[2].lower()]
        return f"NCCL knows no units and reads {c_int(value)}", f"{variable.name}={whole}"
    number = 1 if value.lower() in _TRUE else 0
    return f"NCCL reads {c_int(value)}: only numbers count", f"{variable.name}={number}"


def _numbers(variable: Variable) -> set[int]:
    """The numbers that `0, 1 (fail if unavailable), 2 (auto)` lists."""
    plain = re.sub(r"\([^)]*\)", "", variable.values)
    found = re.findall(r"-?\d+", plain)
    inner = re.findall(r"\((-\d+) auto\)", variable.values)
    return set(map(int, [*found, *inner])) if re.fullmatch(r"[-\d,\s]+", plain) else set()


def _words(variable: Variable) -> tuple[str, ...]:
    """The words that `PARALLEL, GROUP` lists; nothing for numbers."""
    plain = re.sub(r"\([^)]*\)", "", variable.values)
    return tuple(re.findall(r"[A-Z][A-Z0-9_]{2,}", plain)) if "exactly" not in plain else ()


def _word(variable: Variable, value: str, words: tuple[str, ...]) -> Misread | None:
    seen = value.upper() if variable.name in _ANY_CASE else value
    if seen in words or (variable.name == "NCCL_NETDEVS_POLICY" and value.startswith("MAX:")):
        return None
    near = value.upper() if value.upper() in words else words[0]
    return f"NCCL knows {', '.join(words)} and ignores the rest", f"{variable.name}={near}"


def wrong_tokens(name: str, value: str) -> list[str]:
    """Words of NCCL_ALGO or NCCL_PROTO that name no algorithm or protocol."""
    known = _ALGORITHMS if name == "NCCL_ALGO" else _PROTOCOLS
    words = [
        word.strip() for part in value.split(";") for word in part.rpartition(":")[2].lstrip("^").split(",")
    ]
    return [word for word in words if word and word.lower() not in known]
