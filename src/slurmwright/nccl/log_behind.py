"""PyTorch's words about each rank's last collective to the ranks that were behind when a limit ran out.

Every rank but the one at fault prints that it timed out. Its number of the last collective that it called
tells more: who has the lower one never came. PyTorch raises that number after the call into NCCL has returned
(ProcessGroupNCCL.cpp, workEnqueue), so a rank may also stand still inside the call. The rank in
`[PG ... Rank 3]` counts within that group; `[rank11]:` before the line is the one of the job.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from slurmwright.nccl.log_line import Speaker

#: Texts that mark the lines that `take` reads.
MARKS = (b"ast enqueued ", b"To our best knowledge, ranks [", b"but didn't join collective #")
_GROUP = re.compile(rb"\[PG (?:ID \d+ PG GUID )?([^\]\s]+(?: [^\]\s]+)*?) Rank (\d+)\]")
_LAST = re.compile(rb"[Ll]ast enqueued (?:NCCL )?work: (-?\d+)(?:.*?last completed (?:NCCL )?work: (-?\d+))?")
_FAILED = re.compile(rb"(?:at work sequence id: |Timeout at NCCL work: )(\d+)")
_WORK = re.compile(rb"WorkNCCL\(SeqNum=(\d+), OpType=(\w+)")
_OWN = re.compile(
    rb"(?:ranks )?\[([\d, ]{1,400})\] (are the lagging ranks|finished collective #\d+, but didn't join)"
)
#: PyTorch 2.3 printed numbers that it had never set.
_MOST = 1 << 48
_ENTRIES = 65536


@dataclass(frozen=True)
class RankAt:
    """One rank and the last collective that it called and finished; None is not told."""

    rank: int
    host: str
    called: int
    finished: int | None
    file: str
    line: int


@dataclass(frozen=True)
class Behind:
    """What one group of ranks tells. `verdict`: absent, mixed, silent or network."""

    group: str
    verdict: str
    work: int
    ranks: tuple[RankAt, ...] = ()
    silent: tuple[tuple[int, str], ...] = ()
    mixed: tuple[tuple[str, tuple[int, ...]], ...] = ()
    waiting: int = 0

    def as_json(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "verdict": self.verdict,
            "collective": self.work,
            "waiting": self.waiting,
            "behind": [vars(one) for one in self.ranks],
            "silent": [{"rank": rank, "host": host} for rank, host in self.silent],
            "called": {name: list(ranks) for name, ranks in self.mixed},
        }


@dataclass
class Standing:
    """What has been read so far; bounded by ranks and groups."""

    last: dict[tuple[str, int], RankAt] = field(default_factory=dict)
    failed: dict[str, int] = field(default_factory=dict)
    calls: dict[tuple[str, int], dict[str, set[int]]] = field(default_factory=dict)
    #: Ranks that PyTorch itself names (TORCH_NCCL_DESYNC_DEBUG).
    named: set[int] = field(default_factory=set)
    world: int = 0
    started: dict[int, str] = field(default_factory=dict)

    def start(self, rank: int, ranks: int, host: str) -> None:
        """A rank of a communicator begins; the largest is the job."""
        if ranks > self.world:
            self.world = ranks
            self.started.clear()
        if ranks == self.world and len(self.started) < _ENTRIES:
            self.started[rank] = host

    def take(self, line: bytes, said: Speaker, file: str, number: int) -> None:
        own = _OWN.search(line)
        if own and len(self.named) < _ENTRIES:
            self.named.update(int(one) for one in own[1].replace(b",", b" ").split())
        found = _GROUP.search(line)
        if not found or len(self.last) >= _ENTRIES:
            return
        group, within = found[1].decode("utf-8", "replace"), int(found[2])
        rank = said.rank if said.rank is not None else within
        self._call(line, group, rank)
        told = _LAST.search(line)
        if not told or int(told[1]) > _MOST:
            return
        failed = _FAILED.search(line)
        if failed:
            self.failed[group] = min(int(failed[1]), self.failed.get(group, _MOST))
        finished = int(told[2]) if told[2] and int(told[2]) < _MOST else None
        before = self.last.get((group, within))
        if before is None or before.called <= int(told[1]):
            self.last[group, within] = RankAt(rank, said.host, int(told[1]), finished, file, number)

    def _call(self, line: bytes, group: str, rank: int) -> None:
        work = _WORK.search(line)
        if work and len(self.calls) < _ENTRIES:
            names = self.calls.setdefault((group, int(work[1])), {})
            names.setdefault(work[2].decode(), set()).add(rank)

    def behind(self) -> tuple[Behind, ...]:
        """One verdict for each group that has one, those that name a rank first."""
        groups = dict.fromkeys(group for group, _ in self.last)
        found = [one for group in groups for one in self._of(group)]
        order = ("absent", "mixed", "silent", "network")
        return tuple(sorted(found, key=lambda one: (order.index(one.verdict), one.group)))

    def _of(self, group: str) -> Iterator[Behind]:
        ranks = sorted(
            (self._placed(one) for (name, _), one in self.last.items() if name == group),
            key=lambda one: one.rank,
        )
        work = self.failed.get(group, max(one.called for one in ranks))
        late = tuple(one for one in ranks if one.called < work)
        waiting = len(ranks) - len(late)
        mixed = self.calls.get((group, work), {})
        silent = self._silent(group, ranks)
        if late:
            yield Behind(group, "absent", work, late, waiting=waiting)
        elif len(mixed) > 1:
            yield Behind(group, "mixed", work, mixed=_sorted(mixed), waiting=waiting)
        elif silent:
            yield Behind(group, "silent", work, silent=silent, waiting=waiting)
        elif group in self.failed and len(ranks) > 1:
            yield Behind(group, "network", work, waiting=waiting)

    def _placed(self, one: RankAt) -> RankAt:
        host = one.host or self.started.get(one.rank, "")
        return RankAt(one.rank, host, one.called, one.finished, one.file, one.line)

    def _silent(self, group: str, ranks: list[RankAt]) -> tuple[tuple[int, str], ...]:
        """Ranks of the job whose start is in these logs and that told nothing at its end."""
        if group not in self.failed or group.partition("(")[0] != "0":
            return ()
        told = {one.rank for one in ranks}
        return tuple((rank, host) for rank, host in sorted(self.started.items()) if rank not in told)


def _sorted(mixed: Mapping[str, set[int]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((name, tuple(sorted(mixed[name]))) for name in sorted(mixed))
