"""Our own benchmark for nodes without nccl-tests: a collective of PyTorch, printed in nccl-tests' format.

A program of its own that srun starts in every task: standard library and torch only. On GPUs it uses NCCL,
else gloo. Algorithm bandwidth is size over time, the longest time of all ranks counts, and results are
checked; the benchmark that is copied from page to page has the 2 of all-reduce in the wrong number.
"""

# What runs on the nodes may be an older Python than ours: no newer syntax here.
import argparse
import importlib
import os
import socket
import time
from typing import Any


def main() -> None:
    """Measure each size and print, as rank 0, what nccl-tests would."""
    torch, dist = (importlib.import_module(name) for name in ("torch", "torch.distributed"))
    given = _arguments()
    rank, ranks, local = (int(os.environ[f"SLURM_{name}"]) for name in ("PROCID", "NTASKS", "LOCALID"))
    on_gpu = torch.cuda.is_available()
    job, step = os.environ.get("SLURM_JOB_ID", "0"), os.environ.get("SLURM_STEP_ID", "0")
    port = 20000 + (int(job) * 31 + int(step)) % 20000
    number = int(os.environ.get("NCCL_TESTS_DEVICE", local)) if on_gpu else local
    if on_gpu:
        torch.cuda.set_device(number % torch.cuda.device_count())
    dist.init_process_group(
        "nccl" if on_gpu else "gloo", init_method=f"tcp://{given.master}:{port}", rank=rank, world_size=ranks
    )
    device = torch.device("cuda", torch.cuda.current_device()) if on_gpu else torch.device("cpu")
    names: list[Any] = [None] * ranks
    dist.all_gather_object(names, (socket.gethostname(), number))
    if rank == 0:
        _head(given, names, torch)
    wrong = 0
    for size in _sizes(given):
        seconds, bad = _measure(given, size // 4, ranks, device, torch, dist)
        slowest = torch.tensor([seconds, float(bad)], device=device, dtype=torch.float64)
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        wrong += int(slowest[1])
        if rank == 0:
            _line(given.operation, size, float(slowest[0]), ranks, int(slowest[1]))
    if rank == 0:
        print(f"# {'Out of bounds values':<20} : {wrong} {'FAILED' if wrong else 'OK'}\n#", flush=True)
    dist.destroy_process_group()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--operation", default="all_reduce")
    parser.add_argument("--master", required=True)
    parser.add_argument("-b", dest="first", default="32M")
    parser.add_argument("-e", dest="last", default="32M")
    parser.add_argument("-f", dest="factor", type=int, default=2)
    parser.add_argument("-n", dest="rounds", type=int, default=20)
    parser.add_argument("-w", dest="warm", type=int, default=5)
    return parser.parse_known_args()[0]


def _sizes(given: argparse.Namespace) -> list[int]:
    units = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    first, last = (
        int(text[:-1]) * units[text[-1]] if text[-1] in units else int(text)
        for text in (given.first, given.last)
    )
    sizes = [first]
    while given.factor > 1 and sizes[-1] * given.factor <= last:
        sizes.append(sizes[-1] * given.factor)
    return sizes


def _measure(
    given: argparse.Namespace, count: int, ranks: int, device: Any, torch: Any, dist: Any
) -> tuple[float, int]:
    """Seconds of one round, and how many elements were wrong after the first."""
    part = max(count // ranks, 1)
    whole = torch.ones(part * ranks, dtype=torch.float32, device=device)
    mine = torch.ones(part, dtype=torch.float32, device=device)
    got = torch.zeros_like(whole)
    pieces = list(got.chunk(ranks))
    calls: dict[str, Any] = {
        "all_reduce": (lambda: dist.all_reduce(whole), lambda: whole, float(ranks)),
        "broadcast": (lambda: dist.broadcast(whole, 0), lambda: whole, 1.0),
        "all_gather": (lambda: dist.all_gather(pieces, mine), lambda: torch.cat(pieces), 1.0),
        "reduce": (lambda: dist.reduce(whole, 0), lambda: mine, 1.0),
        "alltoall": (lambda: dist.all_to_all_single(got, whole), lambda: got, 1.0),
        "reduce_scatter": (
            lambda: dist.reduce_scatter(mine, list(whole.chunk(ranks))),
            lambda: mine,
            float(ranks),
        ),
    }
    if given.operation not in calls:
        raise SystemExit(f"{given.operation} is not among {', '.join(calls)}")
    call, result, wanted = calls[given.operation]
    call()
    bad = int((result() != wanted).sum())
    whole.zero_()
    for _ in range(given.warm):
        call()
    dist.barrier()
    if device.type == "cuda":
        torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(given.rounds):
        call()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / given.rounds, bad


def _head(given: argparse.Namespace, names: list[Any], torch: Any) -> None:
    version = ""
    if torch.cuda.is_available():
        version = "NCCL version " + ".".join(map(str, torch.cuda.nccl.version()))
    print(f"# slurmwright's benchmark, PyTorch {torch.__version__} {version or 'gloo'}")
    print(f"# Collective test starting: {given.operation}_perf\n# nThread 1 nGpus 1\n# Using devices")
    for rank, (host, device) in enumerate(names):
        print(f"#  Rank {rank:2d} Group  0 Pid {0:6d} on {host:>10} device {device:2d} [torch]")
    print("#\n# size count type redop root time algbw busbw #wrong time algbw busbw #wrong")
    print("# (B) (elements) (us) (GB/s) (GB/s) (us) (GB/s) (GB/s)", flush=True)


def _line(operation: str, size: int, seconds: float, ranks: int, wrong: int) -> None:
    factors = {"all_reduce": 2 * (ranks - 1) / ranks, "broadcast": 1.0, "reduce": 1.0}
    speed = size / seconds / 1e9
    bus = speed * factors.get(operation, (ranks - 1) / ranks)
    cells = f"{seconds * 1e6:.2f} {speed:.4f} {bus:.4f} {wrong}"
    # The collective works in place or out of place, as PyTorch has it; there is one number.
    print(f"{size} {size // 4} float sum -1 {cells} {cells}", flush=True)


if __name__ == "__main__":
    main()
