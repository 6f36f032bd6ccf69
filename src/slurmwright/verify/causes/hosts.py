"""Causes that one check of a host, or of a limit, tells by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from slurmwright.core.finding import Severity
from slurmwright.verify import judge, judge_hosts
from slurmwright.verify.causes.case import Case, Told, finding


def _plain(
    check: str, name: str, severity: Severity, message: str, fix: str, word: str = ""
) -> Callable[[Case], Iterator[Told]]:
    """A cause that one check tells by itself; `word` must stand in its fault."""

    def told(case: Case) -> Iterator[Told]:
        failed = {
            point.node: point.fault
            for point in case.points
            if point.check == check and point.fault and word in point.fault
        }
        if failed:
            nodes = list(failed)
            evidence = [f"{node}: {fault}" for node, fault in failed.items()]
            yield finding(name, severity, message, nodes, evidence[:8], fix), nodes, (check,)

    return told


_CLOCK_FIX = "systemctl enable --now chrony (or chronyd), and chronyc makestep"
PLAIN = (
    _plain(
        judge_hosts.MUNGE,
        "munge-key",
        Severity.ERROR,
        "munge has the key of another cluster",
        "copy /etc/munge/munge.key from the controller, owner munge, mode 0400, and restart munge and slurmd",
        "Invalid credential",
    ),
    _plain(judge_hosts.CLOCK, "clock-off", Severity.ERROR, "the clock is off", _CLOCK_FIX),
    _plain(
        judge_hosts.MUNGE,
        "clock-off",
        Severity.ERROR,
        "the clock is so far off that munge refuses credentials",
        _CLOCK_FIX,
        "ed credential",
    ),
    _plain(
        judge_hosts.FILES,
        "config-stale",
        Severity.ERROR,
        "stale slurm.conf: the files of Slurm are not those of the other hosts",
        "push the files again: slurmwright apply --playbook push, then scontrol reconfigure",
    ),
    _plain(
        judge_hosts.DELEGATION,
        "unit-not-delegated",
        Severity.ERROR,
        "slurmd unit lacks Delegate",
        "systemctl edit slurmd: [Service] Delegate=yes, then restart slurmd",
    ),
    _plain(
        judge_hosts.CGROUP,
        "cgroup-hybrid",
        Severity.ERROR,
        "the node boots with the hybrid cgroup hierarchy",
        "kernel line: systemd.unified_cgroup_hierarchy=1, no SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE; then reboot",
        "hybrid",
    ),
    _plain(
        judge_hosts.MINORS,
        "minors-order",
        Severity.ERROR,
        "device numbers are in another order than the GPUs on the PCI bus",
        "read the hosts' facts and render: File= in gres.conf follows the minor of each GPU",
    ),
    _plain(
        judge.LOCKED,
        "memlock-limited",
        Severity.ERROR,
        "memory that jobs may lock is limited",
        "slurmd's unit: [Service] LimitMEMLOCK=infinity; slurm.conf: PropagateResourceLimitsExcept=MEMLOCK",
    ),
    _plain(
        judge_hosts.UNIT_MEMLOCK,
        "memlock-limited",
        Severity.ERROR,
        "slurmd's unit limits the memory that jobs may lock",
        "systemctl edit slurmd: [Service] LimitMEMLOCK=infinity, then restart slurmd",
    ),
)
