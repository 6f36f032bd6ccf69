"""Lines of NCCL's and PyTorch's logs that tell a fault: what to look for, the usual cause, what to do.

Rows are matched as bytes: a log of gigabytes is never decoded as a whole. `any` are plain texts, since
finding those is many times faster than a pattern.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

from pydantic import Field

from slurmwright.catalogue.read import DATA, Row, load, row

Kind = Literal["cause", "suspect", "timeout", "follow", "slow"]
#: What may have started a failure comes before what only follows one.
KINDS: tuple[Kind, ...] = ("cause", "suspect", "timeout", "follow", "slow")


class NcclFault(Row):
    """One line to look for; `data/nccl_faults.yaml` says what the fields mean."""

    name: str
    kind: Kind
    any: tuple[str, ...] = Field(min_length=1)
    match: str
    unless: str = Field("", alias="not")
    when: Literal["", "rdma", "hosts", "p2p"] = ""
    told_by: Literal["nccl", "pytorch"] = Field("nccl", alias="from")
    timeout: bool = False
    cause: str
    fix: str

    def fits(self, line: bytes) -> bool:
        """Is this the line of this fault?"""
        wanted, unwanted = _patterns(self.match, self.unless)
        return bool(wanted.search(line)) and not (unwanted and unwanted.search(line))


@cache
def _patterns(match: str, unless: str) -> tuple[re.Pattern[bytes], re.Pattern[bytes] | None]:
    return re.compile(match.encode()), re.compile(unless.encode()) if unless else None


@cache
def nccl_faults() -> tuple[NcclFault, ...]:
    """All rows, in the order in which they are tried on a line."""
    path = DATA / "nccl_faults.yaml"
    return tuple(row(NcclFault, raw, path, name, name=name) for name, raw in load(path)["rows"].items())
