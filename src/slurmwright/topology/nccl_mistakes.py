"""What is wrong in a topology file as one value, whoever finds it, and the words of that reader."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slurmwright.topology.nccl_grammar import Element

REFUSED, UNMATCHED, SPEED, CPU, NVLINK, DOUBLED, INTERNAL, NODE = (
    "refused",
    "unmatched",
    "speed",
    "cpu",
    "nvlink",
    "doubled",
    "internal",
    "node",
)
_BUSID = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\Z")


@dataclass(frozen=True)
class Mistake:
    """One place of a file. `kind` is the group it belongs to; `severity` error, warning or info; with
    `refuses` NCCL ends here."""

    kind: str
    severity: str
    line: int
    message: str
    fix: str = ""
    refuses: bool = False


def good_busid(text: str) -> bool:
    """Is it written as NCCL compares it: dddd:bb:dd.f in lower case?"""
    return bool(_BUSID.match(text))


def busid_number(text: str) -> int:
    """The number NCCL makes of a bus id: its hex digits in a row, as in busIdToInt64."""
    digits = ""
    for char in text:
        if char in ".:":
            continue
        if char.lower() not in "0123456789abcdef":
            break
        digits += char
    return int(digits[:17] or "0", 16)


def busid_of(element: Element) -> str:
    """The bus id of a <pci>, or of the one around an element."""
    for one in (element, *element.above):
        if one.name == "pci" and one.get("busid"):
            return one.get("busid") or ""
    return ""


def is_leaf_gpu(pci: Element) -> bool:
    """Is it a GPU, by its class or because it holds one?"""
    held = any(child.name == "gpu" for child in pci.children)
    return held or (pci.get("class") or "").startswith("0x03")
