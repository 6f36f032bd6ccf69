"""Logs as ranks of a job write them, for the tests: clean, and with a fault and what follows it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import yaml

LINES: Mapping[str, Sequence[str]] = yaml.safe_load(
    (Path(__file__).parents[1] / "data/nccl/log_lines.yaml").read_text(encoding="utf-8")
)
RANKS, PER_HOST = 64, 8
FOLLOWERS = ("peer-closed", "flushed", "connection-reset", "proxy")


def host_of(rank: int) -> str:
    return f"gpu{rank // PER_HOST + 1:03}"


def said(rank: int, text: str, second: int | None = None) -> str:
    """A line of log_lines.yaml as this rank prints it, its time in front of warnings where one is given."""
    kind, _, rest = text.partition(" ")
    gpu = rank % PER_HOST
    if kind == "TORCH":
        return f"[rank{rank}]:{rest.replace('Rank 9]', f'Rank {rank}]')}"
    clock = (
        f"[2026-12-03 10:{second // 60:02}:{second % 60:02}] "
        if second is not None and kind == "WARN"
        else ""
    )
    return f"{clock}{host_of(rank)}:{4000 + gpu}:{4100 + gpu} [{gpu}] {rest}"


def clean(rank: int) -> Iterator[str]:
    """The start of a rank that does well, and a program's own lines."""
    gpu, follower = rank % PER_HOST, (rank + PER_HOST) % RANKS
    for text in (
        "Bootstrap : Using ens6f0:10.20.1.7<0>",
        "NCCL_IB_HCA set by environment to =mlx5_0,mlx5_3",
        "NET/Plugin: Could not find: libnccl-net.so. ",
        "TUNER/Plugin: Could not find: libnccl-tuner.so. ",
        "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_3:1/IB [RO]; OOB ens6f0:10.20.1.7<0>",
        f"ncclCommInitRankConfig comm 0x55 rank {rank} nranks {RANKS} cudaDev {gpu} nvmlDev {gpu} "
        "busId 1b000 commId 0x1 - Init START",
        "NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)",
        f"Channel 00/0 : {rank}[{gpu}] -> {rank ^ 1}[{gpu ^ 1}] via P2P/CUMEM/read",
        f"Channel 00/0 : {rank}[{gpu}] -> {follower}[{gpu}] [send] via NET/IB/{gpu}/GDRDMA",
        f"Channel 00/0 : {rank}[{gpu}] -> {follower}[{gpu}] [receive] via NET/IB/{gpu}/GDRDMA",
    ):
        yield said(rank, f"INFO NCCL INFO {text}")
    yield f"step 100 rank {rank} loss 2.31 Broken pipe dream, exceeded expectations"


def interleaved(planted: Mapping[int, str], second: int | None = None, follow: bool = True) -> str:
    """All ranks' lines as one output: clean starts in turns, then the planted lines, then what follows."""
    starts = [list(clean(rank)) for rank in range(RANKS)]
    lines = [rows[at] for at in range(len(starts[0])) for rows in starts]
    for rank, text in planted.items():
        lines.append(said(rank, text, second))
        if follow:
            others = [one for one in range(RANKS) if one != rank]
            lines += [
                said(one, LINES[FOLLOWERS[one % 4]][0], None if second is None else second + 1 + one % 7)
                for one in others
            ]
            lines.append(said(others[5], LINES["watchdog"][0].replace("04:59:33", "10:59:59")))
    return "\n".join(lines) + "\n"


def stream(text: str) -> io.BytesIO:
    return io.BytesIO(text.encode())
