"""Why jobs open GPUs that they were not given, or cannot open their own."""

from __future__ import annotations

from collections.abc import Iterator

from slurmwright.core.finding import Severity
from slurmwright.verify import judge, judge_hosts
from slurmwright.verify.causes.case import DEVICE_CHECKS, Case, Told, finding
from slurmwright.verify.config_lines import Line, last
from slurmwright.verify.launches import NONE
from slurmwright.verify.reached import opened


def open_to_all(case: Case) -> Iterator[Told]:
    """Jobs open every GPU, whatever they were given: the device filter is off."""
    failed = case.failed(*DEVICE_CHECKS)
    groups: dict[str, list[str]] = {}
    lines: dict[str, Line | None] = {}
    for node in failed:
        if _all(case, node) and _free(case, node) >= _all(case, node):
            cause, line = _why_open(case, node)
            groups.setdefault(cause, []).append(node)
            lines.setdefault(cause, line)
    for cause, nodes in groups.items():
        name, message, fix = _OPEN[cause]
        line = lines[cause]
        evidence = [*([f"{line}"] if line else []), *(f"{node}: {failed[node]}" for node in nodes[:8])]
        found = finding(name, Severity.CRITICAL, message, nodes, evidence, fix, line)
        # Without cgroups nothing else of a job is confined either.
        yield (
            found,
            nodes,
            (*DEVICE_CHECKS, judge.CUDA, judge.CORES, judge.MEMORY, judge.CPUS, judge.PAGES, judge.SPREAD),
        )


_OPEN = {
    "constrain": (
        "constrain-devices-off",
        "cgroup.conf has ConstrainDevices=no: every job can open every GPU",
        "in cgroup.conf: ConstrainDevices=yes, then restart slurmd",
    ),
    "unset": (
        "constrain-devices-off",
        "cgroup.conf does not set ConstrainDevices, which is no by default: every job can open every GPU",
        "in cgroup.conf: ConstrainDevices=yes, then restart slurmd",
    ),
    "missing": (
        "cgroup-conf-missing",
        "cgroup.conf is missing, and without it nothing is constrained: every job can open every GPU",
        "cgroup.conf: ConstrainDevices=yes, ConstrainCores=yes, ConstrainRAMSpace=yes; restart slurmd",
    ),
    "task": (
        "task-cgroup-missing",
        "task/cgroup missing from TaskPlugin: every job can open every GPU",
        "in slurm.conf: TaskPlugin=task/cgroup,task/affinity, then restart slurmctld and slurmd",
    ),
    "duplicate": (
        "task-plugin-twice",
        "a later line sets TaskPlugin again, the last one counts: every job can open every GPU",
        "delete the later TaskPlugin line and keep TaskPlugin=task/cgroup,task/affinity",
    ),
    "": (
        "devices-not-confined",
        "every job can open every GPU; likely ConstrainDevices=no, or task/cgroup missing",
        "cgroup.conf: ConstrainDevices=yes; slurm.conf: TaskPlugin=task/cgroup,task/affinity",
    ),
}


def _why_open(case: Case, node: str) -> tuple[str, Line | None]:
    files = case.hosts.get(node, {}).get("configuration") or {}
    if not case.read or "slurm.conf" not in files:
        return "", None
    slurm = case.lines(node, "slurm.conf")
    plugins = [line for line in slurm if line.key == "taskplugin"]
    if plugins and "task/cgroup" not in plugins[-1].value.lower():
        earlier = any("task/cgroup" in line.value.lower() for line in plugins[:-1])
        return ("duplicate" if earlier else "task"), plugins[-1]
    if not plugins:
        return "task", None
    if "cgroup.conf" not in files:
        return "missing", None
    line = last(case.lines(node, "cgroup.conf"), "constraindevices")
    if line is None:
        return "unset", None
    return ("constrain", line) if line.value.lower() not in ("yes", "true", "1", "on") else ("", None)


def _free(case: Case, node: str) -> frozenset[str]:
    """The GPU files that a job without GPUs could open."""
    for check, data in case.jobs.get(node, ()):
        if check == NONE:
            sight = opened(case.shapes[node], data, case.stand_ins)
            return frozenset([*(gpu.files[0] for gpu in sight.gpus), *sight.others])
    return frozenset()


def _all(case: Case, node: str) -> frozenset[str]:
    return frozenset(gpu.files[0] for gpu in case.shapes[node].gpus)


def left_out(case: Case) -> Iterator[Told]:
    """A job without GPUs opens some of them, and the others are refused: Slurm does not know these."""
    groups: dict[frozenset[str], list[str]] = {}
    for node in case.failed(*DEVICE_CHECKS):
        free = _free(case, node)
        if free and not free >= _all(case, node):
            groups.setdefault(free, []).append(node)
    for files, nodes in groups.items():
        names = ", ".join(sorted(files))
        evidence = [f"{node}: a job without GPUs can open {names}" for node in nodes[:8]]
        message = (
            f"{names} is left out of gres.conf: Slurm denies only what it knows, so every job can open it"
        )
        fix = f"add File={sorted(files)[0]} to gres.conf and count it in Gres= of the node"
        found = finding("gpu-left-out", Severity.CRITICAL, message, nodes, evidence, fix)
        yield found, nodes, (*DEVICE_CHECKS, judge.CUDA)


def modes(case: Case) -> Iterator[Told]:
    failed = {
        node: fault for node, fault in _faults(case, judge_hosts.DEVICES, *DEVICE_CHECKS) if "mode" in fault
    }
    if failed:
        nodes = list(failed)
        evidence = [f"{node}: {fault}" for node, fault in failed.items()]
        message = "device files of GPUs may not be opened by users: their mode is not 0666"
        fix = (
            "chmod 0666 /dev/nvidia*; for good: NVreg_DeviceFileMode=0666 of the module nvidia in modprobe.d"
        )
        found = finding("device-mode", Severity.ERROR, message, nodes, evidence[:8], fix)
        yield found, nodes, (judge_hosts.DEVICES, *DEVICE_CHECKS, judge.CUDA, judge.CPUS, judge.PAGES)


def missing(case: Case) -> Iterator[Told]:
    failed = {
        node: f for node, f in _faults(case, judge_hosts.DEVICES, *DEVICE_CHECKS) if "is not there" in f
    }
    if failed:
        nodes = list(failed)
        evidence = [f"{node}: {fault}" for node, fault in failed.items()]
        evidence += [f"slurmctld on {node}: {case.reasons[node]}" for node in nodes if case.reasons.get(node)]
        message = (
            "device files of GPUs are missing, and slurmd does not start without a file that gres.conf names"
        )
        fix = "nvidia-modprobe -u -c=0, enable nvidia-persistenced, and order slurmd.service After= it"
        found = finding("device-missing", Severity.ERROR, message, nodes, evidence[:8], fix)
        yield found, nodes, (judge_hosts.DEVICES, judge_hosts.DAEMONS, *DEVICE_CHECKS)


def _faults(case: Case, *checks: str) -> Iterator[tuple[str, str]]:
    return ((point.node, point.fault) for point in case.points if point.fault and point.check in checks)
