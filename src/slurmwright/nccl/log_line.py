"""One line of a log to who said it and when: host, process, GPU, rank, adapter, time.

The number in brackets is the CUDA device, not the rank (NVIDIA/nccl src/debug.cc), and only warnings of NCCL
2.26 and newer begin with a time. Launchers put the rank before the line in their own ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_SAID = re.compile(rb"(?:^|[\s\]:>])([A-Za-z0-9][\w.-]*):(\d+):(\d+)\s+(?:\[(-?\d+)\])?")
#: `srun --label`, PyTorch's prefix, PyTorch's own words. torchrun's `[default3]:` is the rank on that node.
_RANK = re.compile(rb"^\s*(\d{1,6}): |\[rank(\d+)\]|\[Rank\s?(\d+)\]|\bRank (\d+)\]")
_NIC = re.compile(
    rb"\b((?:mlx\d_(?:bond_)?|irdma|rdmap\d+s|bnxt_re|efa_?|rocep\w*?s|ibp\w*?s)\d+\w*(?::\d+)?)",
)
_NET = re.compile(rb"\bNET/(?:IB|AWS Libfabric|Socket)/\d+")
_CLOCK = re.compile(rb"\[?20(\d\d)-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d(?:[.,]\d{1,9})?)")
#: PyTorch's: level, month and day, time.
_GLOG = re.compile(rb"\b[EWIF](\d\d)(\d\d) (\d\d):(\d\d):(\d\d(?:\.\d+)?)")
_INIT = re.compile(rb"\brank (\d+) n[rR]anks (\d+)")


@dataclass(frozen=True)
class Speaker:
    """Who said a line; "" and None are not told. `time` compares within a year: month, day, seconds."""

    host: str = ""
    pid: int = 0
    gpu: int | None = None
    rank: int | None = None
    nic: str = ""
    time: tuple[int, int, float] | None = None


def speaker(line: bytes, stamp: bytes = b"") -> Speaker:
    """Read one line; `stamp` is a line with a time before it, for one that has none."""
    said, rank = _SAID.search(line), _RANK.search(line)
    number = next((int(one) for one in rank.groups() if one), None) if rank else None
    gpu = int(said[4]) if said and said[4] else None
    return Speaker(
        said[1].decode() if said else "",
        int(said[2]) if said else 0,
        gpu if gpu is None or gpu >= 0 else None,
        number,
        adapter(line),
        _time(line) or _time(stamp),
    )


def adapter(line: bytes) -> str:
    """The adapter that a line is about, "" where it names none."""
    found = _NIC.search(line)
    if found:
        return found[1].decode("utf-8", "replace")
    net = _NET.search(line)
    return net[0].decode() if net else ""


def rank_of(line: bytes) -> tuple[int, int] | None:
    """Rank and number of ranks from a line of a communicator's start."""
    found = _INIT.search(line)
    return (int(found[1]), int(found[2])) if found else None


def _time(line: bytes) -> tuple[int, int, float] | None:
    found = _CLOCK.search(line)
    parts = found.groups()[1:] if found else None
    if parts is None and (glog := _GLOG.search(line)):
        parts = glog.groups()
    if parts is None:
        return None
    month, day, hour, minute = (int(part) for part in parts[:4])
    return month, day, hour * 3600 + minute * 60 + float(parts[4].replace(b",", b"."))
