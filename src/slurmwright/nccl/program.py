"""What measures, and how it is started: nccl-tests where it is, else our own PyTorch benchmark.

nccl-tests works across nodes only when it was built with MPI; images of NVIDIA's name that build
`all_reduce_perf_mpi`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

from slurmwright.core.errors import SlurmwrightError
from slurmwright.nccl.allocation import Allocation
from slurmwright.nccl.steps import Step

TORCH = "torch"
_LOOK = (
    "for p in {0}_perf_mpi {0}_perf /opt/nccl-tests/build/{0}_perf /opt/nccl-tests/{0}_perf "
    "/usr/local/bin/{0}_perf_mpi; do command -v $p && exit; done; "
    'python3 -c "import torch.distributed" 2>/dev/null && echo torch'
)


@dataclass(frozen=True)
class Program:
    """`path` is a program of nccl-tests, or `torch` for our own; `tasks` of each node share its GPUs."""

    path: str
    operation: str
    gpus: int
    tasks: int
    mpi: str = "pmix"
    container: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    limit_s: int = 300

    @property
    def ours(self) -> bool:
        return self.path == TORCH

    def step(
        self,
        name: str,
        nodes: Sequence[str],
        sizes: tuple[str, str],
        env: Mapping[str, str] | None = None,
        one_gpu: bool = False,
        factor: int = 2,
    ) -> Step:
        """A run over these nodes, from the first size to the last; `one_gpu`: one rank on each node."""
        tasks = 1 if one_gpu else self.tasks
        each = 1 if one_gpu else max(self.gpus, 1) // self.tasks
        rounds = ("-b", sizes[0], "-e", sizes[1], "-f", str(factor), "-n", "20", "-w", "5")
        argv: tuple[str, ...]
        if self.ours:
            argv = ("python3", "-", "--operation", self.operation, "--master", nodes[0], *rounds)
        else:
            argv = (self.path, *rounds, "-g", str(each))
        options = [*(("--mpi=" + self.mpi,) if self.mpi else ())]
        options += [f"--container-image={self.container}"] if self.container else []
        options += [f"--gpus-per-node={self.gpus}"] if self.gpus else []
        stdin = files("slurmwright.nccl").joinpath("torch_bench.py").read_text("utf-8") if self.ours else ""
        return Step(
            name, tuple(nodes), tasks, argv, {**self.env, **(env or {})}, tuple(options), self.limit_s, stdin
        )

    def ranks(self, nodes: int, one_gpu: bool = False) -> int:
        return nodes if one_gpu else nodes * (self.tasks if self.ours else max(self.gpus, 1))


def find_program(held: Allocation, operation: str, container: str = "") -> str:
    """The first program that a node has. Raises SlurmwrightError where there is none."""
    options = (f"--container-image={container}",) if container else ()
    look = Step("look", held.nodes[:1], 1, ("sh", "-c", _LOOK.format(operation)), {}, options, 120)
    done = held.run([look])["look"]
    found = done.out.strip().splitlines()
    if found:
        return found[-1].strip()
    why = done.err.strip().splitlines()
    raise SlurmwrightError(
        f"neither {operation}_perf nor PyTorch is on {held.nodes[0]}{' in ' + container if container else ''}"
        f"{': ' + why[-1] if why else ''}; name it with --program, or an image with --container"
    )
