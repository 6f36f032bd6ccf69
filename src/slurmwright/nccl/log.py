"""Logs of many ranks to the first cause: what began it, on which host and adapter, and what only followed.

Every rank of a failed job warns, and the ranks that live on say only that a peer went away. So what can start
a failure goes before what can only follow one, and among equals the earliest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from slurmwright.catalogue.nccl_faults import KINDS, NcclFault
from slurmwright.nccl.log_behind import Behind, Standing
from slurmwright.nccl.log_line import Speaker, rank_of, speaker
from slurmwright.nccl.log_scan import Hit, scan

FORMAT = "slurmwright/nccl-log/1"
#: Beyond this many groups and ranks only counts are kept, so that memory stays what it is.
_GROUPS, _PROCESSES, _SAMPLE, _UNKNOWN = 4096, 65536, 64, 20
Order = tuple[int, int, float, int, int]


@dataclass
class Group:
    """All lines of one fault from one host and adapter: how many, and the first of them."""

    fault: NcclFault
    host: str
    nic: str
    order: Order
    file: str
    line: int
    evidence: str
    said: Speaker
    count: int = 0
    ranks: set[int] = field(default_factory=set)
    gpus: set[int] = field(default_factory=set)

    def as_json(self) -> dict[str, Any]:
        fault, clock = self.fault, self.said.time
        return {
            "fault": fault.name,
            "kind": fault.kind,
            "from": fault.told_by,
            "host": self.host,
            "nic": self.nic,
            "ranks": sorted(self.ranks),
            "gpus": sorted(self.gpus),
            "count": self.count,
            "time": _clock(clock) if clock else None,
            "file": self.file,
            "line": self.line,
            "evidence": self.evidence,
            "cause": fault.cause,
            "fix": fault.fix,
        }


@dataclass(frozen=True)
class Diagnosis:
    """What the logs tell. `first` is None where nothing known was found that can start a failure."""

    first: Group | None
    groups: tuple[Group, ...]
    left_out: int
    unknown: tuple[tuple[str, int, str], ...]
    unknown_count: int
    hosts: int
    ranks: int
    size: int
    timeouts: dict[str, int]
    timed: bool
    behind: tuple[Behind, ...]
    named: tuple[int, ...]

    @property
    def exit_code(self) -> int:
        return int(bool(self.groups) or bool(self.unknown_count))

    def as_json(self) -> dict[str, Any]:
        """The document that other programs read."""
        return {
            "format": FORMAT,
            "first": self.first.as_json() if self.first else None,
            "groups": [group.as_json() for group in self.groups],
            "groups_left_out": self.left_out,
            "timeouts": self.timeouts,
            "behind": [one.as_json() for one in self.behind],
            "named_by_pytorch": list(self.named),
            "unknown_warnings": {
                "count": self.unknown_count,
                "first": [{"file": f, "line": n, "text": text} for f, n, text in self.unknown],
            },
            "hosts": self.hosts,
            "ranks": self.ranks,
            "bytes": self.size,
            "ordered_by_time": self.timed,
        }


class _Told:
    """What has been read so far; its size is bounded by hosts, adapters and kinds of fault."""

    def __init__(self, rdma: bool) -> None:
        self.groups: dict[tuple[str, str, str], Group] = {}
        self.left_out = self.unknown_count = self.size = 0
        self.unknown: list[tuple[str, int, str]] = []
        self.hosts: set[str] = set()
        self.ranks: dict[tuple[str, int], int] = {}
        self.largest = 0
        self.seen = {"": True, "rdma": rdma, "p2p": False}
        self.timeouts = {"nccl": 0, "pytorch": 0}
        self.standing = Standing()

    def take(self, hit: Hit, file: str, at: int) -> None:
        said = speaker(hit.line, hit.stamp)
        if said.host and len(self.hosts) < _PROCESSES:
            self.hosts.add(said.host)
        if hit.torch or (hit.fault and hit.fault.told_by == "pytorch"):
            self.standing.take(hit.line, said, file, hit.number)
        if hit.fault is not None:
            self._fault(hit, hit.fault, said, file, at)
        elif hit.note == "NCCL WARN":
            self.unknown_count += 1
            if len(self.unknown) < _UNKNOWN:
                self.unknown.append((file, hit.number, _text(hit.line)))
        else:
            self._note(hit, said)

    def _note(self, hit: Hit, said: Speaker) -> None:
        found = rank_of(hit.line)
        if found and found[1] >= self.largest and len(self.ranks) < _PROCESSES:
            # The largest communicator is the job; a rank counts within its own in the others.
            self.ranks[(said.host, said.pid)], self.largest = found
            self.standing.start(*found, said.host)
        self.seen["rdma"] |= hit.note.startswith("NET/IB")
        self.seen["p2p"] |= hit.note.endswith("P2P")

    def _fault(self, hit: Hit, fault: NcclFault, said: Speaker, file: str, at: int) -> None:
        if fault.timeout:
            self.timeouts[fault.told_by] += 1
        order = (*(said.time or (99, 0, 0.0)), at, hit.number)
        key = (fault.name, said.host, said.nic)
        group = self.groups.get(key)
        if group is None:
            if len(self.groups) >= _GROUPS:
                self.left_out += 1
                return
            group = Group(fault, said.host, said.nic, order, file, hit.number, _text(hit.line), said)
            self.groups[key] = group
        elif order < group.order:
            group.order, group.file, group.line = order, file, hit.number
            group.evidence, group.said = _text(hit.line), said
        group.count += 1
        rank = said.rank if said.rank is not None else self.ranks.get((said.host, said.pid))
        if rank is not None and len(group.ranks) < _SAMPLE:
            group.ranks.add(rank)
        if said.gpu is not None:
            group.gpus.add(said.gpu)


def diagnose(
    logs: Iterable[tuple[str, BinaryIO]],
    rdma: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> Diagnosis:
    """Read logs one after the other. `rdma`: the nodes have RDMA adapters, whatever the logs say."""
    told = _Told(rdma)
    for at, (name, stream) in enumerate(logs):
        for hit in scan(stream):
            if isinstance(hit, Hit):
                told.take(hit, name, at)
            else:
                told.size += hit.size
                progress(hit.size)
    told.seen["hosts"] = len(told.hosts) > 1
    groups = [one for one in told.groups.values() if told.seen[one.fault.when]]
    compared = all(one.said.time for one in groups if one.fault.kind == "suspect")
    groups.sort(key=lambda one: (_tier(one, compared), one.order))
    return Diagnosis(
        next((one for one in groups if one.fault.kind != "slow"), None),
        tuple(groups),
        told.left_out,
        tuple(told.unknown),
        told.unknown_count,
        len(told.hosts),
        max(told.largest, len(told.ranks)),
        told.size,
        told.timeouts,
        any(one.said.time for one in groups),
        told.standing.behind(),
        tuple(sorted(told.standing.named)),
    )


def _tier(group: Group, compared: bool) -> int:
    """A limit of PyTorch that ran out first explains why peers went away; without times nobody can tell."""
    kind = group.fault.kind
    return KINDS.index("suspect" if kind == "timeout" and compared else kind)


def _text(line: bytes) -> str:
    return "".join(c if c.isprintable() else " " for c in line.decode("utf-8", "replace")).strip()


def _clock(time: tuple[int, int, float]) -> str:
    month, day, seconds = time
    whole = int(seconds)
    return f"{month:02}-{day:02} {whole // 3600:02}:{whole // 60 % 60:02}:{whole % 60:02}"
