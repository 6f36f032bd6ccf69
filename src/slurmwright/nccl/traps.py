"""A run of nccl-tests to what makes its number worthless: no MPI, wrong results, an early end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.nccl.bandwidth import FACTORS
from slurmwright.nccl.results import Output


@dataclass(frozen=True)
class Trap:
    """Why a number cannot be trusted. `fatal`: it is no measurement at all."""

    name: str
    message: str
    fix: str
    fatal: bool = True


def traps(output: Output, tasks: int, operation: str, limit: float | None = None) -> tuple[Trap, ...]:
    """What is wrong with the output of `tasks` ranks; `limit` is what no algorithm can pass."""
    return tuple(_traps(output, tasks, operation, limit))


def _traps(output: Output, tasks: int, operation: str, limit: float | None) -> Iterator[Trap]:
    alone = tasks > 1 and len(output.ranks) > 0 and max(rank.number for rank in output.ranks) == 0
    if output.starts > 1 or alone:
        yield Trap(
            "without-mpi",
            f"{max(output.starts, len(output.ranks))} programs of one rank ran side by side, expected one of "
            f"{tasks}",
            "build nccl-tests with MPI=1, start it with srun --mpi=pmix; NGC images have all_reduce_perf_mpi",
        )
        return
    for error in output.errors[:3]:
        yield Trap("failed", error, "read what NCCL warned before: slurmwright nccl log")
    if output.units != "GB/s":
        yield Trap(
            "units", f"bandwidth is in {output.units}, expected GB/s", "take nccl-tests as NVIDIA has it"
        )
    if output.wrong or output.out_of_bounds:
        count = output.wrong or output.out_of_bounds
        yield Trap(
            "wrong-results",
            f"{count} elements came out wrong: data is corrupted on the way",
            "take the nodes out at once; nccl bench on halves of them finds the one; dmesg | grep Xid",
        )
    if not output.rows:
        yield Trap("no-results", "no line with a result came out", "read the kept output of the run")
    elif not output.ended:
        yield Trap("cut-off", "the output ends before its summary: the run was ended", "raise --timeout")
    if output.ranks and len(output.ranks) < tasks and not alone:
        yield Trap(
            "ranks-missing",
            f"{len(output.ranks)} ranks took part, expected {tasks}",
            "compare --ntasks-per-node with the GPUs of a node, and -g with 1",
        )
    if limit and output.peak > 1.05 * limit:
        yield Trap(
            "impossible",
            f"{output.peak:g} GB/s is more than the {limit:g} that is possible",
            "compare rails and rate of fabric in cluster.yaml with the nodes; are ranks on all nodes?",
        )
    yield from _factors(output, tasks, operation)


def _factors(output: Output, tasks: int, operation: str) -> Iterator[Trap]:
    """Bus over algorithm bandwidth tells the number of ranks, and who computed it otherwise."""
    if output.ranks and any(rank.group for rank in output.ranks):
        return
    wanted = FACTORS[operation](tasks)
    for row in output.rows:
        for place in row.places:
            # Two digits after the point are printed.
            if place.algbw > 2 and abs(place.busbw / place.algbw - wanted) > 0.02 + 0.02 / place.algbw:
                yield Trap(
                    "other-formula",
                    f"busbw is {place.busbw / place.algbw:.3f} times algbw, expected {wanted:.3f} of "
                    f"{tasks} ranks",
                    "the benchmark computes algbw otherwise than nccl-tests, or fewer ranks took part",
                    fatal=False,
                )
                return
