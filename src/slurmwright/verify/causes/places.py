"""Why steps run, or have their pages, far from their GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.cpu_list import parse_cpus
from slurmwright.core.finding import Severity
from slurmwright.verify import judge, judge_hosts
from slurmwright.verify.causes.case import Case, Told, finding
from slurmwright.verify.config_lines import Line, cores_by_file
from slurmwright.verify.launches import BOUND, ONE, PER_TASK
from slurmwright.verify.reached import near, numa_of_cpus, opened


def far(case: Case) -> Iterator[Told]:
    """Steps run beside other GPUs than their own: what gres.conf says, or how GPUs and CPUs cross over."""
    failed = case.failed(judge.CPUS, judge.PAGES, judge.SPREAD)
    groups: dict[str, list[str]] = {}
    # slurmctld refuses a node whose Cores= it does not have, and 24.11 shows no reason for it.
    refused = [node for node, why in case.reasons.items() if "core" in why.lower() or "inval" in why]
    for node in dict.fromkeys((*failed, *refused)):
        if node in case.shapes:
            groups.setdefault(_why_far(case, node), []).append(node)
    for cause, nodes in groups.items():
        if not cause:
            continue
        name, message, fix = _FAR[cause]
        evidence = [f"{node}: {failed[node]}" for node in nodes if node in failed][:8]
        evidence += [f"slurmctld on {node}: {case.reasons[node]}" for node in nodes if case.reasons.get(node)]
        line = next(iter(_core_lines(case, nodes[0])), None)
        found = finding(name, Severity.ERROR, message, nodes, evidence, fix, line)
        yield found, nodes, (judge.CPUS, judge.PAGES, judge.SPREAD)


_FAR = {
    "minors": (
        "minors-order",
        "GPUs have other device numbers than gres.conf was written for, so Cores= belong to other GPUs",
        "read the hosts' facts again and render: File= follows the minor of each GPU, not the PCI order",
    ),
    "ids": (
        "cores-as-cpu-ids",
        "Cores= written as CPU ids: it takes Slurm's logical core indexes, not what nvidia-smi prints",
        "write Cores= as logical core indexes of the GPU's NUMA node; `slurmwright render` derives them",
    ),
    "swapped": (
        "cores-swapped",
        "Cores= of the sockets are swapped: each GPU names the cores of another NUMA node",
        "exchange the Cores= of the lines, or let `slurmwright render` derive them",
    ),
}


def _why_far(case: Case, node: str) -> str:
    if node in case.failed(judge_hosts.MINORS):
        return "minors"
    shape = case.shapes[node]
    for file, cores in cores_by_file(_core_lines(case, node)):
        gpu = next((gpu for gpu in shape.gpus if gpu.files[0] == file and gpu.numa is not None), None)
        if gpu is not None and cores == _cpu_ids(case, node, gpu.numa):
            return "ids" if cores != _core_ids(case, node, gpu.numa) else "swapped"
    crossed = {
        (tuple(sorted(own)), tuple(sorted(seen)))
        for check, data in case.jobs.get(node, ())
        if check in (ONE, PER_TASK, BOUND)
        and (own := near(opened(shape, data, case.stand_ins).gpus))
        and (seen := numa_of_cpus(data))
    }
    to: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for mine, theirs in crossed:
        to.setdefault(mine, set()).add(theirs)
    crosses = all(len(theirs) == 1 and mine not in theirs for mine, theirs in to.items())
    return "swapped" if to and crosses else ""


def _core_lines(case: Case, node: str) -> tuple[Line, ...]:
    return tuple(line for line in case.lines(node, "gres.conf") if line.names(node) and "cores" in line.pairs)


def _cpu_ids(case: Case, node: str, numa: int | None) -> tuple[int, ...]:
    """The CPU ids of a NUMA node as this machine numbers them; those of the first threads may do as well."""
    for _, data in case.jobs.get(node, ()):
        text = (data.get("numa") or {}).get(str(numa))
        if text:
            return parse_cpus(text)
    shape = case.shapes[node]
    return parse_cpus(shape.layout.numa_node(numa or 0).cpu_list)


def _core_ids(case: Case, node: str, numa: int | None) -> tuple[int, ...]:
    shape = case.shapes[node]
    first, end = shape.layout.numa_node(numa or 0).core_range
    return tuple(range(first, end + 1))
