"""Folds host names as a given Slurm release reads them."""

from __future__ import annotations

import re

from slurmwright.core.hosts import fold, fold_in_order
from slurmwright.core.release import Release

#: Before 23.11 nothing may follow the last bracket of a name: 22.05.8 reads `r[1-2]n[3-4]`, but says
#: "Invalid hostlist" to `n[1-2].pod`; 24.11.5 and 26.05.5 read both.
SUFFIX_SINCE = "23.11"
_SUFFIX = re.compile(r"\][^,\[\]]+(?:,|\Z)")


def fold_for(release: Release, names: list[str], ordered: bool = False) -> str:
    """`["gpu2", "gpu1"]` → `gpu[1-2]`, or in the given order where that carries meaning."""
    folded = fold_in_order(names) if ordered else fold(names)
    if _SUFFIX.search(folded) and not release.at_least(SUFFIX_SINCE):
        return ",".join(names)
    return folded
