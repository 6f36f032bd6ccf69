"""Turns what the tasks of a job saw, and what the job had asked for, into points: right, wrong, not seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.verify.documents import Document
from slurmwright.verify.expect import ExpectedGpu, ExpectedNode
from slurmwright.verify.launches import BESIDE, EXCLUSIVE, MEMORY_MB, SSH, Launch
from slurmwright.verify.reached import (
    Data,
    Opened,
    cpus_of,
    near,
    numa_of_cpus,
    numa_of_pages,
    opened,
    told,
    visible,
)
from slurmwright.verify.values import Point

CUDA, CPUS, PAGES = "cuda-visible-devices", "cpu-locality", "memory-locality"
CORES, MEMORY, SPREAD, WORKING, LOCKED = (
    "cores-limited",
    "memory-limited",
    "task-spread",
    "devices-answer",
    "memlock",
)
#: What is true where a check passed.
GOOD = {
    CUDA: "CUDA_VISIBLE_DEVICES names as many GPUs as the job can open",
    CPUS: "every step ran on CPUs of its GPU's NUMA node",
    PAGES: "the pages that steps touched lie on the NUMA node of their GPU",
    CORES: "jobs could use the cores that they asked for and no other",
    MEMORY: "the memory of steps is limited to what they asked for",
    SPREAD: "the tasks of a node run on as many of its NUMA nodes as its GPUs lie on",
    WORKING: "every GPU that a job may open answers",
    LOCKED: "jobs may lock as much memory as they like",
    BESIDE: "jobs of one GPU at the same time have different GPUs, all of them together",
}
_NO_CGROUP = "nothing here confines jobs: devices, cores and memory are not held back"


@dataclass(frozen=True)
class Ground:
    """What holds where jobs run. `confined`: by cgroups; `stand_ins`: device files without a driver."""

    confined: bool = True
    stand_ins: bool = False


def judge_launch(
    launch: Launch, node: str, shape: ExpectedNode, seen: Sequence[Document], ground: Ground
) -> Iterator[Point]:
    """The points of one launch on one node; where a task did not answer, nothing was checked."""
    if len(seen) != launch.tasks:
        yield Point(launch.name, node, skipped=f"{len(seen)} of {launch.tasks} tasks answered")
        return
    sights = [opened(shape, one.data, ground.stand_ins) for one in seen]
    if ground.confined:
        alone = _alone(seen) if launch.name == EXCLUSIVE else ()
        yield from _points(launch.name, node, chain(_device_faults(launch, shape, sights), alone))
        if launch.gpus:
            yield from _points(WORKING, node, _broken(sights))
        if launch.limited:
            yield from _limits(launch, node, shape, seen)
        yield from _points(LOCKED, node, _memlock(seen))
    else:
        yield from _points(launch.name, node, _told_faults(launch, shape, seen))
    if launch.name != SSH:
        # pam_slurm_adopt moves a session into the job's cgroup and leaves its environment alone.
        yield from _points(CUDA, node, _cuda_faults(launch, shape, seen, sights, ground))
    if ground.confined and 0 < launch.of_task < len(shape.gpus):
        yield from _places(node, shape, seen, sights)
    if ground.confined and launch.each == 1:
        yield from _spread(node, shape, seen)


def _points(check: str, node: str, faults: Iterator[str]) -> Iterator[Point]:
    found = tuple(dict.fromkeys(faults))
    yield from (Point(check, node, fault) for fault in found)
    if not found:
        yield Point(check, node)


# -- devices ------------------------------------------------------------------------------------------------


def _device_faults(launch: Launch, shape: ExpectedNode, sights: Sequence[Opened]) -> Iterator[str]:
    total = len(shape.gpus)
    for sight in sights:
        if len(sight.gpus) != launch.of_task or sight.others:
            yield (
                f"a {'task' if launch.tasks > 1 else 'job'} that was given {launch.of_task} of {total} GPUs "
                f"can open {len(sight.gpus) + len(sight.others)}: {sight.labels}"
            )
        if sight.missing:
            yield f"{', '.join(sight.missing)} is not there"
        if sight.by_mode:
            yield f"{', '.join(sight.by_mode)} is refused by its file mode (EACCES), not by the cgroup"
    if launch.tasks > 1:
        yield from _shared([sight.gpus for sight in sights], shape.gpus, "task")


def _shared(sets: Sequence[Sequence[ExpectedGpu]], every: Sequence[ExpectedGpu], who: str) -> Iterator[str]:
    """What is wrong with sets of GPUs that must be disjoint and together complete."""
    held = [gpu for one in sets for gpu in one]
    twice = sorted({gpu.label for gpu in held if held.count(gpu) > 1})
    if twice:
        yield f"{', '.join(twice)} can be opened by more than one {who}"
    nobody = sorted({gpu.label for gpu in every} - {gpu.label for gpu in held})
    if nobody:
        yield f"{', '.join(nobody)} can be opened by no {who}"


def _broken(sights: Sequence[Opened]) -> Iterator[str]:
    for sight in sights:
        if sight.broken:
            yield f"the driver does not answer for {', '.join(sight.broken)}"


def _told_faults(launch: Launch, shape: ExpectedNode, seen: Sequence[Document]) -> Iterator[str]:
    """Without cgroups: what Slurm tells the job that it gave."""
    for one in seen:
        given = told(one.data) or told(one.data, "SLURM_STEP_GPUS")
        if len(given) != launch.of_task:
            yield f"a job that asked for {launch.of_task} GPUs is told of {len(given)}: {_words(given)}"
        if any(index >= len(shape.gpus) for index in given):
            yield f"a job is told of GPU {max(given)}, the node has {len(shape.gpus)}"


def _cuda_faults(
    launch: Launch, shape: ExpectedNode, seen: Sequence[Document], sights: Sequence[Opened], ground: Ground
) -> Iterator[str]:
    for one, sight in zip(seen, sights, strict=True):
        words = visible(one.data)
        shown = f"CUDA_VISIBLE_DEVICES={','.join(words)}" if words else "CUDA_VISIBLE_DEVICES is not set"
        if len(words) != launch.of_task:
            yield f"{shown} for {launch.of_task} GPUs"
        elif ground.confined and _numbers(words) and sorted(map(int, words)) != list(range(len(words))):
            yield f"{shown}, but a confined job counts its {len(words)} GPUs from 0"
        elif ground.confined and len(sight.gpus) != len(words):
            yield f"{shown}, and the job can open {len(sight.gpus)}: {sight.labels}"


def _numbers(words: Sequence[str]) -> bool:
    return all(word.isascii() and word.isdigit() for word in words)


# -- places -------------------------------------------------------------------------------------------------


def _places(
    node: str, shape: ExpectedNode, seen: Sequence[Document], sights: Sequence[Opened]
) -> Iterator[Point]:
    for check, where, words in ((CPUS, numa_of_cpus, "runs on"), (PAGES, numa_of_pages, "has its pages on")):
        for one, sight in zip(seen, sights, strict=True):
            wanted, found = near(sight.gpus, one.data), where(one.data)
            if wanted is None or not sight.gpus or sight.others:
                yield Point(check, node, skipped="the NUMA node of the GPUs that the job opened is not known")
            elif found is None:
                yield Point(check, node, skipped="the kernel does not tell NUMA nodes")
            elif found <= wanted:
                yield Point(check, node)
            else:
                yield Point(
                    check,
                    node,
                    f"a task with {sight.labels} of NUMA node {_words(wanted)} {words} {_words(found)}"
                    + (f" (CPUs {one.data.get('cpus')})" if check == CPUS else ""),
                )


def _spread(node: str, shape: ExpectedNode, seen: Sequence[Document]) -> Iterator[Point]:
    wanted = near(shape.gpus)
    found = [numa_of_cpus(one.data) for one in seen]
    if wanted is None or None in found:
        yield Point(SPREAD, node, skipped="NUMA nodes are not known")
        return
    used = frozenset(numa for one in found if one is not None for numa in one)
    fault = f"tasks with one GPU each run on NUMA nodes {_words(used)}, the GPUs lie on {_words(wanted)}"
    yield Point(SPREAD, node, "" if used >= wanted else fault)


def _limits(launch: Launch, node: str, shape: ExpectedNode, seen: Sequence[Document]) -> Iterator[Point]:
    most = shape.layout.threads * launch.tasks
    cpus = sorted({cpu for one in seen for cpu in cpus_of(one.data)})
    asked = "one core" if launch.tasks == 1 else f"{launch.tasks} cores"
    fault = f"a job that asked for {asked} may use {len(cpus)} CPUs ({fold_cpus(cpus)})"
    yield Point(CORES, node, fault if len(cpus) > most else "")
    for one in seen:
        limit = (one.data.get("cgroup") or {}).get("memory_max")
        if (one.data.get("cgroup") or {}).get("mode") != "v2":
            yield Point(MEMORY, node, skipped="no cgroup v2, so its limit cannot be read")
        elif limit is None or limit > 2 * MEMORY_MB << 20:
            shown = "no limit" if limit is None else f"{limit >> 20} MiB"
            yield Point(MEMORY, node, f"a job that asked for {MEMORY_MB} MiB has {shown}")
        else:
            yield Point(MEMORY, node)


def _alone(seen: Sequence[Document]) -> Iterator[str]:
    """A site may keep some cores of a node for itself (CoreSpecCount), not half of them.

    The job's own cgroup counts: srun takes --exclusive for the step too, which then gets no more than the
    core of its task (Slurm 24.11, src/common/slurm_opt.c, sets `exact` with it).
    """
    for one in seen:
        own = cpus_of({"cpus": (one.data.get("cgroup") or {}).get("job_cpus")})
        every = [cpu for text in (one.data.get("numa") or {}).values() for cpu in cpus_of({"cpus": text})]
        if own and 2 * len(own) < len(every):
            yield f"a job that has its node alone may use {len(own)} of {len(every)} CPUs ({fold_cpus(own)})"


def _memlock(seen: Sequence[Document]) -> Iterator[str]:
    for one in seen:
        soft = ((one.data.get("limits") or {}).get("memlock") or ["unlimited"])[0]
        if soft != "unlimited":
            yield f"jobs may lock {soft} bytes of memory, and RDMA and NCCL lock all that they use"


# -- side by side -------------------------------------------------------------------------------------------


def judge_beside(node: str, shape: ExpectedNode, jobs: Mapping[str, Data], ground: Ground) -> Iterator[Point]:
    """Jobs that ran at the same time, one GPU each: name of the job → its document on this node."""
    if len(jobs) != len(shape.gpus):
        why = f"{len(jobs)} of {len(shape.gpus)} jobs of one GPU answered at the same time"
        yield Point(BESIDE, node, skipped=why)
        return
    if ground.confined:
        sets = [opened(shape, data, ground.stand_ins).gpus for data in jobs.values()]
    else:
        every = shape.in_order_of(())
        # A step is told of its own GPUs, in SLURM_STEP_GPUS (24.11.5 sets nothing else for it).
        heard = (told(data) or told(data, "SLURM_STEP_GPUS") for data in jobs.values())
        sets = [tuple(every[i] for i in given if i < len(every)) for given in heard]
    yield from _points(BESIDE, node, _shared(sets, shape.gpus, "job"))


def _words(numbers: frozenset[int] | Sequence[int]) -> str:
    return ", ".join(map(str, sorted(numbers))) or "none"


def nowhere(ground: Ground) -> str:
    """Why devices and limits cannot be judged here; "" where they can."""
    return "" if ground.confined else _NO_CGROUP
