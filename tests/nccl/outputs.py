"""Output of nccl-tests as its own format strings print it (NVIDIA/nccl-tests src/util.cu, and before 2.13)."""

# ruff: noqa: E501 - lines as they are printed

from __future__ import annotations

from collections.abc import Sequence

HEAD = """\
# nccl-tests version 2.19.6 nccl-headers=22707 nccl-library=22707
# Collective test starting: {test}_perf
# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 17179869184 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
"""
NEW = (
    "#\n#                                                              out-of-place                       in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong \n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)         \n"
)
OLD = (
    "#\n#                                                       out-of-place                       in-place          \n"
    "#       size         count      type   redop     time   algbw   busbw   error     time   algbw   busbw   error\n"
    "#        (B)    (elements)                       (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)       \n"
)


def ranks(count: int, per_host: int = 8) -> str:
    return "".join(
        f"#  Rank {r:2d} Group {0:2d} Pid {4000 + r:6d} on     gpu{r // per_host + 1:03} device {r % per_host:2d} "
        "[0000:1b:00] NVIDIA H100 80GB HBM3\n"
        for r in range(count)
    )


def line(size: int, time: float, alg: float, bus: float, wrong: str = "0", old: bool = False) -> str:
    start = f"{size:12d}  {size // 4:12d}  {'float':>8}  {'sum':>6}" + ("" if old else f"  {-1:6d}")
    place = f"  {time:7.1f}  {alg:6.2f}  {bus:6.2f}  {wrong:>6}"
    return f"{start}{place}{place}\n"


def foot(wrong: int = 0, average: float = 17.2, test: str = "all_reduce") -> str:
    return (
        f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}\n# Avg bus bandwidth    : {average:g} \n#\n"
        f"# Collective test concluded: {test}_perf\n#\n"
    )


def whole(rows: Sequence[str], count: int = 16, wrong: int = 0) -> str:
    return HEAD.format(test="all_reduce") + ranks(count) + NEW + "".join(rows) + foot(wrong)
