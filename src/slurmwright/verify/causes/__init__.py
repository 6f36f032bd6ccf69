"""Turns points that failed, and the lines of Slurm's files, into findings: the likely cause, what to paste.

A cause that the files prove is named for certain; where nobody may read them, what jobs saw still tells most
causes apart, and the message says `likely`.
"""

from __future__ import annotations

from slurmwright.core.finding import Finding, Severity
from slurmwright.verify import judge, judge_hosts
from slurmwright.verify.causes import devices, places
from slurmwright.verify.causes.case import DEVICE_CHECKS, Case, finding
from slurmwright.verify.causes.hosts import PLAIN
from slurmwright.verify.values import IN_SERVICE, Point

#: What may have another reason, such as a file that somebody made anew.
_MILD = {judge_hosts.EARLY: Severity.WARNING, judge_hosts.LEFT: Severity.WARNING}
_CAUSES = (devices.open_to_all, devices.left_out, devices.modes, devices.missing, places.far, *PLAIN)
FIXES = {
    judge.CORES: "cgroup.conf: ConstrainCores=yes; slurm.conf: TaskPlugin=task/cgroup,task/affinity",
    judge.MEMORY: "cgroup.conf: ConstrainRAMSpace=yes; slurm.conf: SelectTypeParameters=CR_Core_Memory",
    judge.CPUS: "slurm.conf: TaskPlugin=task/cgroup,task/affinity; gres.conf: Cores= on every GPU line",
    judge.CUDA: "no Flags= on GPU lines of gres.conf without nvidia_gpu_env; AutoDetect or Type= as rendered",
    judge.WORKING: "nvidia-smi on the node; dmesg has the driver's Xid",
    judge_hosts.DAEMONS: "systemctl enable --now munge slurmd",
    judge_hosts.DRIVER: "modprobe nvidia, and systemctl enable --now nvidia-persistenced",
    judge_hosts.EARLY: "order slurmd.service After=nvidia-persistenced.service",
    judge_hosts.LEFT: "look at the processes below the named cgroup; UnkillableStepTimeout in slurm.conf",
}


def findings(case: Case) -> tuple[Finding, ...]:
    """Every cause once, with all its hosts; a failed check that no cause explains is a finding of its own."""
    explained: dict[str, set[str]] = {}
    found: list[Finding] = []
    for cause in _CAUSES:
        for one, nodes, checks in cause(case):
            if (one.name, one.host) not in {(other.name, other.host) for other in found}:
                found.append(one)
            for check in checks:
                explained.setdefault(check, set()).update(nodes)
    known = {node for nodes in explained.values() for node in nodes}
    rest: dict[str, list[Point]] = {}
    for point in case.points:
        if point.fault and point.node not in explained.get(point.check, ()) and not _follows(point, known):
            rest.setdefault(point.check, []).append(point)
    return (*found, *(_unexplained(check, points) for check, points in rest.items()))


def _follows(point: Point, known: set[str]) -> bool:
    """A node out of service whose own fault has been named is no second fault."""
    out = point.check == IN_SERVICE or (point.check == judge_hosts.DAEMONS and "slurmd is " in point.fault)
    return out and point.node in known


def _unexplained(check: str, points: list[Point]) -> Finding:
    nodes = [point.node for point in points]
    evidence = [f"{point.node}: {point.fault}" for point in points[:8]]
    severity = Severity.CRITICAL if check in DEVICE_CHECKS else _MILD.get(check, Severity.ERROR)
    return finding(
        check, severity, points[0].fault, nodes, evidence, FIXES.get(check, "compare with a node that passes")
    )
