"""Affinity masks of a topology file to CPUs as NCCL reads them, and what is no mask at all.

A mask is hex words of 32 bits, the most significant first; a list such as 0-15 is taken and gives nonsense.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from slurmwright.topology.nccl_grammar import Element
from slurmwright.topology.nccl_mistakes import CPU, Mistake

_WORDS = re.compile(r"[0-9a-fA-F]{1,8}(,[0-9a-fA-F]{1,8})*\Z")


def mask_cpus(text: str) -> frozenset[int] | None:
    """`000000ff,ffff0000` → {16, …, 39}; None for what is no mask."""
    if not _WORDS.match(text):
        return None
    number = int("".join(word.zfill(8) for word in text.split(",")), 16)
    return frozenset(bit for bit in range(number.bit_length()) if number >> bit & 1)


def cpus_mask(cpus: frozenset[int] | set[int], total: int) -> str:
    """CPUs as a mask wide enough for `total` of them."""
    words = max(1, -(-max(total, max(cpus, default=0) + 1) // 32))
    digits = f"{sum(1 << cpu for cpu in cpus):0{words * 8}x}"
    return ",".join(digits[at : at + 8] for at in range(0, len(digits), 8))


def mask_mistakes(system: Element) -> Iterator[Mistake]:
    """No masks, short words, and CPUs that two NUMA nodes claim."""
    masks = [(cpu, cpu.get("affinity")) for cpu in system.below("cpu")]
    leading = {len(text.split(",")): 0 for _, text in masks if text}
    for _, text in masks:
        if text and mask_cpus(text) is not None:
            words = text.split(",")
            leading[len(words)] = max(leading[len(words)], len(words[0]))
    owner: dict[int, Element] = {}
    for cpu, text in masks:
        if text is None:
            continue
        cpus = mask_cpus(text)
        if cpus is None:
            message = f"affinity={text[:60]} is no mask: NCCL wants hex words of 8 digits without 0x"
            yield Mistake(CPU, "error", cpu.line, message, 'affinity="00000000,0000ffff"')
            continue
        words = text.split(",")
        if any(len(word) != 8 for word in words[1:]) or len(words[0]) < leading[len(words)]:
            message = f"affinity={text} has a word of fewer than 8 digits: its CPUs are four lower than meant"
            yield Mistake(CPU, "warning", cpu.line, message, "8 digits in each word")
        shared = sorted(one for one in cpus if one in owner)
        if shared:
            other = owner[shared[0]]
            message = (
                f"CPU {shared[0]} belongs to numaid {other.get('numaid')} (line {other.line}) and to "
                f"numaid {cpu.get('numaid')}"
            )
            yield Mistake(
                CPU, "error", cpu.line, message, "the mask of /sys/devices/system/node/nodeN/cpumap"
            )
        owner.update(dict.fromkeys(cpus, cpu))
