"""Lists of CPU ids as the kernel writes them, `0-55,112-167`, to numbers and back."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

MAX_CPU = 65535


@lru_cache(maxsize=1024)
def parse_cpus(text: str) -> tuple[int, ...]:
    """`0-2,8-12:2` → (0, 1, 2, 8, 10, 12); raises ValueError for anything else."""
    found: set[int] = set()
    for part in text.split(","):
        span, _, step = part.strip().partition(":")
        low, dash, high = span.partition("-")
        if not all(number.isascii() and number.isdigit() for number in ((low, high) if dash else (low,))):
            raise ValueError(f"'{text}' is not a CPU list such as 0-55,112-167")
        first, last = int(low), int(high if dash else low)
        if not first <= last <= MAX_CPU:
            raise ValueError(f"'{part.strip()}' is not a rising range of CPU ids")
        found.update(range(first, last + 1, int(step) if step else 1))
    return tuple(sorted(found))


def fold_cpus(cpus: Iterable[int]) -> str:
    """(0, 1, 2, 8, 10, 12) → `0-2,8-12:2`: rising, runs of step 1 or of one step three long."""
    rest = sorted(set(cpus))
    parts: list[str] = []
    at = 0
    while at < len(rest):
        step = rest[at + 1] - rest[at] if at + 1 < len(rest) else 1
        end = at
        while end + 1 < len(rest) and rest[end + 1] - rest[end] == step:
            end += 1
        if end - at >= (1 if step == 1 else 2):
            parts.append(f"{rest[at]}-{rest[end]}" + ("" if step == 1 else f":{step}"))
            at = end + 1
        else:
            parts.append(str(rest[at]))
            at += 1
    return ",".join(parts)
