"""Verdict `gpu-locality`: a job with one GPU gets cores of the socket that the GPU's NUMA node belongs to.

Two witnesses: how slurmd itself reads gres.conf (`slurmd -G`), and where slurmctld puts real jobs. Both are
held against the type's PCI/NUMA map or the host's facts. The first finds lines that Slurm takes in silence
and that only hurt some jobs.
"""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.slurm_text import JobState, read_gres
from slurmwright.rehearse.values import Verdict
from slurmwright.topology.cpus import fold_cpus

NAME = "gpu-locality"


def judge(machine: Machine) -> Verdict:
    """Try one node of each shape."""
    bad: list[str] = []
    good: list[str] = []
    for node, shape in samples(machine).items():
        faults = [*_devices(machine, node, shape), *_placements(machine, node, shape)]
        bad += [f"{node}: {fault}" for fault in faults]
        if not faults:
            numa = ",".join(str(gpu.numa) for gpu in sorted(shape.gpus, key=lambda g: g.minor))
            good.append(
                f"{node} ({shape.type}): {len(shape.gpus)} one-GPU jobs ran on the cores of their GPU's "
                f"socket (NUMA nodes {numa} by device number, {_origin(shape)})"
            )
    return Verdict(NAME, not bad, tuple(bad or good or ("no node has GPUs",)))


def samples(machine: Machine) -> dict[str, ExpectedNode]:
    """The first node of each shape that has GPUs."""
    first: dict[ExpectedNode, str] = {}
    for host in machine.cast.compute:
        if host.shape is not None and host.shape.gpus:
            first.setdefault(host.shape, host.node)
    return {node: shape for shape, node in first.items()}


def _origin(shape: ExpectedNode) -> str:
    return "from facts" if shape.minors_known else "device numbers assumed in PCI order"


def _socket(shape: ExpectedNode, numa: int) -> tuple[int, int]:
    return shape.layout.socket_cores(numa, shape.layout.splits_sockets)


def _devices(machine: Machine, node: str, shape: ExpectedNode) -> Iterator[str]:
    """Compare slurmd's reading of gres.conf with the map, device by device."""
    host = next(h for h in machine.cast.compute if h.node == node)
    done = machine.on_node(node, [*machine.slurmd(host), "-G"])
    cores: dict[str, tuple[int, ...] | None] = {}
    for row in read_gres(done.out + done.err):
        cores.update(dict.fromkeys(row.files, row.cores))
    if not cores:
        yield f"slurmd read no GPU device from gres.conf: {done.last_line}"
        return
    for gpu in shape.gpus:
        device = f"/dev/nvidia{gpu.minor}"
        if device not in cores:
            yield f"{device} is in no line of gres.conf that counts for this node"
            continue
        if gpu.numa is None:
            continue
        found, (first, last) = cores[device], _socket(shape, gpu.numa)
        if found is None and len(shape.layout.nodes) > 1:
            yield f"{device} has no Cores in gres.conf; its NUMA node {gpu.numa} has cores {first}-{last}"
        elif found is not None and found != tuple(range(first, last + 1)):
            yield (
                f"{device} has Cores={fold_cpus(found)} in gres.conf; by the {shape.type} map it sits on "
                f"NUMA node {gpu.numa} with cores {first}-{last}"
            )


def _placements(machine: Machine, node: str, shape: ExpectedNode) -> Iterator[str]:
    """Fill the node with one-GPU jobs of one core each and look where they land."""
    partition = jobs.partition_of(machine, node)
    if not partition:
        yield "no partition in state UP has this node, so no job can reach it"
        return
    request = ["-p", partition, "-w", node, "-N1", "-n1", "-c1", "--gpus=1", "--mem=64"]
    wanted = len(shape.gpus)
    try:
        with jobs.jobs(machine, [request] * wanted) as ids:
            seen = jobs.settle(machine, ids, lambda now: _running(now) == wanted)
    except jobs.SubmitError as error:
        yield str(error)
        return
    if _running(seen) < wanted:
        reasons = sorted({job.reason for job in seen.values() if job.state != "RUNNING"})
        yield f"only {_running(seen)} of {wanted} one-GPU jobs started ({', '.join(reasons)})"
    for job in seen.values():
        yield from _misplaced(job, shape)


def _misplaced(job: JobState, shape: ExpectedNode) -> Iterator[str]:
    for share in job.shares:
        cores = {cpu // shape.layout.threads for cpu in share.cpu_ids}
        for index in share.gpu_indexes:
            gpu = shape.gpu_of_index(index)
            if gpu is None:
                yield f"job {job.id} got GPU index {index}, which this type does not have"
            elif gpu.numa is not None:
                first, last = _socket(shape, gpu.numa)
                if not all(first <= core <= last for core in cores):
                    yield (
                        f"job {job.id} with GPU index {index} (/dev/nvidia{gpu.minor}, NUMA node {gpu.numa}, "
                        f"cores {first}-{last}) got core {fold_cpus(cores)}"
                    )


def _running(seen: dict[int, JobState]) -> int:
    return sum(job.state == "RUNNING" for job in seen.values())
