"""Verdict `gpu-locality`: a job with one GPU gets cores of the socket that the GPU's NUMA node belongs to.

Two witnesses: how slurmd itself reads gres.conf (`slurmd -G`), and where slurmctld puts real jobs. Both are
held against the type's PCI/NUMA map or the host's facts. The first finds lines that Slurm takes in silence
and that only hurt some jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from slurmwright.rehearse.expect import ExpectedGpu, ExpectedNode
from slurmwright.rehearse.machine import Machine
from slurmwright.rehearse.scenarios import jobs
from slurmwright.rehearse.scenarios.samples import Sample, by_fault, samples
from slurmwright.rehearse.slurm_text import JobState, read_gres
from slurmwright.rehearse.values import Verdict
from slurmwright.topology.cpus import fold_cpus

NAME = "gpu-locality"


def judge(machine: Machine) -> Verdict:
    """Try one node of each shape and configuration, all at once."""
    tried = samples(machine)
    bad = [(s.node, fault) for s in tried if s.alive for fault in _devices(machine, s)]
    bad += _placements(machine, [s for s in tried if s.tried])
    bad += [(s.node, s.trouble) for s in tried if s.trouble]
    if bad:
        return Verdict(NAME, False, by_fault(bad))
    good = tuple(f"{s.node} ({s.shape.type}): {_good(s)}" for s in tried)
    if not any(gpu.numa is not None for s in tried for gpu in s.shape.gpus):
        return Verdict.not_checked(NAME, *(good or ("no node has GPUs",)))
    return Verdict(NAME, True, good)


def _good(sample: Sample) -> str:
    shape = sample.shape
    numa = ",".join("?" if g.numa is None else str(g.numa) for g in shape.ordered)
    origin = "from facts" if shape.minors_known else "device numbers assumed in PCI order"
    unknown = sum(gpu.numa is None for gpu in shape.gpus)
    if unknown == len(shape.gpus):
        return f"not checked: the NUMA node of none of its {unknown} GPUs is known"
    unchecked = f"; not checked for {unknown} GPUs whose NUMA node is not known" if unknown else ""
    where = f"the cores of their GPU's socket (NUMA nodes {numa} by device number, {origin}){unchecked}"
    if sample.apart:
        return f"slurmd gives {len(shape.gpus)} GPUs {where}; no job was tried: {sample.apart}"
    return f"{len(shape.gpus)} one-GPU jobs ran on {where}"


def _socket(shape: ExpectedNode, numa: int) -> tuple[int, int]:
    return shape.layout.socket_cores(numa, shape.layout.splits_sockets)


def _devices(machine: Machine, sample: Sample) -> Iterator[str]:
    """What slurmd's reading of gres.conf gets wrong, device by device; equal faults in one line."""
    done = machine.on_node(sample.node, [*machine.slurmd(sample.host), "-G"])
    rows = read_gres(done.out + done.err)
    if not rows:
        yield f"slurmd read no GPU device from gres.conf: {done.last_line}"
        return
    for row in rows:
        if not row.one_device and list(row.files) != sorted(row.files, key=_number):
            names = ",".join(row.files)
            yield f"{names} are not in rising order, so Slurm's GPU indexes are not those of the devices"
    cores = {files: row.cores for row in rows for files in row.devices}
    faults: dict[str, list[ExpectedGpu]] = {}
    for gpu in sample.shape.ordered:
        fault = _device_fault(sample.shape, gpu, cores)
        if fault:
            faults.setdefault(fault, []).append(gpu)
    for fault, gpus in faults.items():
        yield f"{_names(gpus)} {fault}"


def _names(gpus: Sequence[ExpectedGpu]) -> str:
    whole = [gpu.minor for gpu in gpus if not gpu.caps]
    names = [f"/dev/nvidia[{fold_cpus(whole)}]"] if len(whole) > 1 else [f"/dev/nvidia{n}" for n in whole]
    return ", ".join((*names, *(gpu.label for gpu in gpus if gpu.caps)))


def _device_fault(
    shape: ExpectedNode, gpu: ExpectedGpu, cores: dict[tuple[str, ...], tuple[int, ...] | None]
) -> str:
    if gpu.files not in cores:
        return "in no line of gres.conf that counts for this node"
    if gpu.numa is None:
        return ""
    found, (first, last) = cores[gpu.files], _socket(shape, gpu.numa)
    where = f"by the {shape.type} map it sits on NUMA node {gpu.numa} with cores {first}-{last}"
    if found is None:
        return f"without Cores in gres.conf; {where}" if len(shape.layout.nodes) > 1 else ""
    if found != tuple(range(first, last + 1)):
        return f"with Cores={fold_cpus(found)} in gres.conf; {where}"
    return ""


def _placements(machine: Machine, tried: Sequence[Sample]) -> list[tuple[str, str]]:
    """Fill every sample with one-GPU jobs of one core each and look where they land."""
    owners = [sample for sample in tried for _ in sample.shape.gpus]
    requests = [
        ["-p", s.partition, "-w", s.node, "-N1", "-n1", "-c1", "--gpus=1", "--mem=64"] for s in owners
    ]
    try:
        with jobs.jobs(machine, requests) as ids:
            seen = jobs.settle(machine, ids, lambda now: _running(now.values()) == len(ids))
    except jobs.SubmitError as error:
        return [("sbatch", str(error))]
    faults: list[tuple[str, str]] = []
    for sample in tried:
        own = [seen[i] for i, owner in zip(ids, owners, strict=True) if owner == sample and i in seen]
        started = _running(own)
        if started < len(sample.shape.gpus):
            reasons = ", ".join(sorted({job.reason for job in own if job.state != "RUNNING"}))
            fault = f"only {started} of {len(sample.shape.gpus)} one-GPU jobs started ({reasons})"
            faults.append((sample.node, fault))
        faults += [(sample.node, fault) for job in own for fault in _misplaced(job, sample)]
    return faults


def _misplaced(job: JobState, sample: Sample) -> Iterator[str]:
    shape = sample.shape
    if job.state == "RUNNING" and not any(share.gpu_indexes for share in job.shares):
        yield "a one-GPU job runs and Slurm shows no GPU of its own for it"
    for share in job.shares:
        cores = {cpu // shape.layout.threads for cpu in share.cpu_ids}
        for index in share.gpu_indexes:
            gpu = shape.gpu_of_index(index, sample.gpu_types)
            if gpu is None:
                yield f"a job got GPU index {index}, which this type does not have"
            elif gpu.numa is not None:
                first, last = _socket(shape, gpu.numa)
                if not all(first <= core <= last for core in cores):
                    yield (
                        f"a job with GPU index {index} ({gpu.label}, NUMA node {gpu.numa}, "
                        f"cores {first}-{last}) got core {fold_cpus(cores)}"
                    )


def _running(seen: Iterable[JobState]) -> int:
    return sum(job.state == "RUNNING" for job in seen)


def _number(path: str) -> int:
    digits = path[len(path.rstrip("0123456789")) :]
    return int(digits) if digits else 0
