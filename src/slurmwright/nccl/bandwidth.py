"""Bytes, seconds and ranks to nccl-tests' two numbers: algorithm and bus bandwidth.

The size is that of the column `size`, which for all_gather and the like is the total of all ranks. Benchmarks
copied from page to page put the 2 of all-reduce into the algorithm bandwidth, which is then twice too large
(NVIDIA/nccl-tests src/*.cu, GetBw).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from slurmwright.core.errors import InputError, did_you_mean

_PART: Callable[[int], float] = lambda n: (n - 1) / n  # noqa: E731 - rows of a table
_WHOLE: Callable[[int], float] = lambda n: 1.0  # noqa: E731
FACTORS: Mapping[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": _PART,
    "reduce_scatter": _PART,
    "alltoall": _PART,
    "gather": _PART,
    "scatter": _PART,
    "broadcast": _WHOLE,
    "reduce": _WHOLE,
    "sendrecv": _WHOLE,
}
OPERATIONS = tuple(FACTORS)


def bus_factor(operation: str, ranks: int) -> float:
    """Bus over algorithm bandwidth."""
    if operation not in FACTORS:
        hint = did_you_mean(operation, OPERATIONS)
        raise InputError.of(f"'{operation}' is no collective of nccl-tests; {hint}")
    if ranks < 1:
        raise InputError.of(f"{operation} over {ranks} ranks; expected 1 or more")
    return FACTORS[operation](ranks)


def bandwidths(operation: str, size: int, seconds: float, ranks: int) -> tuple[float, float]:
    """Algorithm and bus bandwidth in GB/s of 1e9 bytes."""
    algorithm = size / seconds / 1e9
    return algorithm, algorithm * bus_factor(operation, ranks)
