"""Turns a node type into the jobs that prove it: so many for each type, however many nodes it has.

Every launch runs on all chosen nodes of a type at once. It asks for one core and little memory, so that it
fits beside anything and shows whether a job is kept to what it asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from slurmwright.verify.expect import ExpectedNode

#: MiB of a launch on a node, and of one of those that run side by side.
MEMORY_MB, BESIDE_MB = 256, 64
NONE, ONE, HALF, ALL = "gpus-none", "gpus-one", "gpus-half", "gpus-all"
PER_TASK, BOUND, EXCLUSIVE = "gpus-per-task", "gpu-bind", "exclusive"
BESIDE, BATCH, INTERACTIVE, SSH, SSH_REFUSED = (
    "side-by-side",
    "batch",
    "interactive",
    "ssh-adopted",
    "ssh-refused",
)
HOSTS = "hosts"


@dataclass(frozen=True)
class Launch:
    """One srun on the nodes of a type: `gpus` on each node in all, in `tasks` that have `each` of them (None:
    all of them). `limited`: it asked for a core and memory, and must be kept to them."""

    name: str
    gpus: int
    tasks: int = 1
    each: int | None = None
    options: tuple[str, ...] = ()
    limited: bool = True

    @property
    def of_task(self) -> int:
        """GPUs that each task must have."""
        return self.gpus if self.each is None else self.each


def launches(node: ExpectedNode) -> tuple[Launch, ...]:
    """The sruns for one type, without those that run side by side."""
    return tuple(_launches(len(node.gpus)))


def _launches(count: int) -> Iterator[Launch]:
    yield Launch(NONE, 0)
    if not count:
        return
    yield Launch(ONE, 1, options=("--gpus-per-node=1",))
    if count > 3:
        yield Launch(HALF, count // 2, options=(f"--gpus-per-node={count // 2}",))
    yield Launch(ALL, count, options=(f"--gpus-per-node={count}",))
    if count > 1:
        yield Launch(PER_TASK, count, count, 1, ("--gpus-per-task=1",))
        yield Launch(BOUND, count, count, 1, (f"--gpus-per-node={count}", "--gpu-bind=single:1"))
    yield Launch(EXCLUSIVE, count, options=("--exclusive", f"--gpus-per-node={count}"), limited=False)


def srun_options(launch: Launch, nodes: int) -> tuple[str, ...]:
    """What srun is told beside the nodes themselves."""
    cores = ("--cpus-per-task=1", f"--mem={MEMORY_MB}M") if launch.limited else (f"--mem={MEMORY_MB}M",)
    tasks = (f"--nodes={nodes}", f"--ntasks={nodes * launch.tasks}", f"--ntasks-per-node={launch.tasks}")
    return *tasks, *cores, *launch.options
