"""Faults of real clusters as shell scripts for guests: how each is made and healed, what verify must find.

A fault of the controller's files reaches all nodes; the others are of one host, and two are tried at once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from slurmwright.core.cpu_list import fold_cpus
from slurmwright.core.hosts import fold
from slurmwright.rehearse.machines.checks import Hosts
from slurmwright.rehearse.machines.engine import Site
from slurmwright.rehearse.machines.verified import look_at_guests
from slurmwright.verify.launches import HOSTS, NONE, ONE
from slurmwright.verify.run import Sight
from slurmwright.verify.values import Report

CONTROLLER, FIRST, SECOND = "ctl1", "gpu001", "gpu002"
_SAVED = "/root/etc-slurm"
#: Each of these faults begins with the files as they were, and after the last one they are put back.
_SAVE = f"test -d {_SAVED} || cp -a /etc/slurm {_SAVED}; cp -a {_SAVED}/. /etc/slurm/"
_RECONFIGURE = "scontrol reconfigure"
_RESUME = f"scontrol update NodeName={FIRST},{SECOND} State=RESUME || true"
#: What slurmctld finds by itself after SlurmdTimeout (5 minutes) where nodes take no message.
_DOWN = f"scontrol update NodeName={FIRST},{SECOND} State=DOWN Reason='no answer'"
_PUT_BACK = f"{_SAVE}; {_RECONFIGURE}; sleep 5; {_RESUME}"
_RESTART = "systemctl daemon-reload; systemctl restart slurmd"
_DROP_IN = "/run/systemd/system/slurmd.service.d/zz-fault.conf"


@dataclass(frozen=True)
class Fault:
    """`finding`: the name that verify must give it on `seen_on`; `failed`: a check of what jobs saw that must
    fail by itself, with words of its evidence."""

    finding: str
    host: str
    make: str
    heal: str
    seen_on: tuple[str, ...]
    failed: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Sabotage:
    """Faults that are tried together, and the launches that show them."""

    name: str
    faults: Sequence[Fault]
    only: tuple[str, ...]


def _pushed(
    finding: str,
    edit: str,
    failed: str,
    evidence: str,
    seen_on: tuple[str, ...] = (FIRST, SECOND),
    heal: str = "",
) -> Fault:
    """A fault of the files on the controller, which nodes fetch."""
    make = f"{_SAVE}; cd /etc/slurm && {{ {edit}\n}} && {_RECONFIGURE}"
    return Fault(finding, CONTROLLER, make, heal, seen_on, failed, evidence)


def _unit(finding: str, host: str, lines: str, failed: str = "", evidence: str = "") -> Fault:
    """A fault of slurmd's unit on one host."""
    make = f"mkdir -p $(dirname {_DROP_IN}); printf '[Service]\\n{lines}\\n' >{_DROP_IN}; {_RESTART}"
    return Fault(finding, host, make, f"rm {_DROP_IN}; {_RESTART}", (host,), failed, evidence)


def _host(finding: str, host: str, make: str, heal: str, failed: str = "", evidence: str = "") -> Fault:
    return Fault(finding, host, make, heal, (host,), failed, evidence)


_STAND_INS = (
    "umount /sys/bus/pci/drivers /proc/driver /run/guest/nvidia/sys; "
    "systemctl restart guest-gpus; systemctl restart slurmd"
)
_OPEN = "can open 8: /dev/nvidia0"
_GRES = "NodeName={} Name=gpu Type=h100 File=/dev/nvidia[{}] Cores={}\\n"


#: Stand for the device numbers on each NUMA node of SECOND, whose driver may have an order of its own.
_NEAR_0, _NEAR_1 = "@near 0@", "@near 1@"
_SWAPPED = (SECOND, _NEAR_0, "4-7"), (SECOND, _NEAR_1, "0-3")
_CPU_IDS = (
    *((FIRST, "0-3", "0-7"), (FIRST, "4-7", "8-15")),
    *((SECOND, _NEAR_0, "0-7"), (SECOND, _NEAR_1, "8-15")),
)


def _gres(*rows: tuple[str, str, str]) -> str:
    lines = "".join(_GRES.format(*row) for row in rows)
    return f"sed -i /^NodeName=/d gres.conf; printf '{lines}' >>gres.conf"


#: A node with 7 of its 8 GPUs in Gres=.
_FEWER = (
    "sed -i -E 's/^NodeName=gpu.001-002. NodeAddr=10.20.1..1-2. (.*)(Gres=gpu:h100:)8(.*)/"
    f"NodeName={FIRST} NodeAddr=10.20.1.1 \\1\\27\\3\\n"
    f"NodeName={SECOND} NodeAddr=10.20.1.2 \\1\\28\\3/' slurm.conf"
)
SABOTAGE = (
    Sabotage(
        "ConstrainDevices=no",
        (
            _pushed(
                "constrain-devices-off",
                "sed -i s/ConstrainDevices=yes/ConstrainDevices=no/ cgroup.conf",
                NONE,
                _OPEN,
            ),
        ),
        (NONE, HOSTS),
    ),
    Sabotage(
        "cgroup.conf missing", (_pushed("cgroup-conf-missing", "rm cgroup.conf", NONE, _OPEN),), (NONE, HOSTS)
    ),
    Sabotage(
        "task/cgroup missing",
        (_pushed("task-cgroup-missing", "sed -i s,task/cgroup.task/,task/, slurm.conf", NONE, _OPEN),),
        (NONE, HOSTS),
    ),
    Sabotage(
        "a later TaskPlugin line",
        (_pushed("task-plugin-twice", "echo TaskPlugin=task/none >>slurm.conf", NONE, _OPEN),),
        (NONE, HOSTS),
    ),
    Sabotage(
        "a GPU left out, Cores of the sockets swapped",
        (
            _pushed(
                "gpu-left-out",
                _gres((FIRST, "0-3", "0-3"), (FIRST, "4-6", "4-7"), *_SWAPPED) + "; " + _FEWER,
                NONE,
                "can open 1: /dev/nvidia7",
                (FIRST,),
            ),
            Fault("cores-swapped", SECOND, "", "", (SECOND,), "cpu-locality", "of NUMA node"),
        ),
        (NONE, ONE, HOSTS),
    ),
    Sabotage(
        "Cores as CPU ids",
        (
            _pushed(
                "cores-as-cpu-ids",
                _gres(*_CPU_IDS),
                "",
                "",
                heal=_PUT_BACK,
            ),
        ),
        (ONE, HOSTS),
    ),
    Sabotage(
        "device order, device modes, no delegation",
        (
            _host(
                "minors-order",
                FIRST,
                "cp /etc/guest/gpus /root/gpus; tac /root/gpus >/etc/guest/gpus; " + _STAND_INS,
                "cp /root/gpus /etc/guest/gpus; " + _STAND_INS,
                "cpu-locality",
                "of NUMA node",
            ),
            _host(
                "device-mode",
                SECOND,
                "chmod 0600 /dev/nvidia[0-7]",
                "chmod 0666 /dev/nvidia[0-7]",
                ONE,
                "refused by its file mode (EACCES)",
            ),
            _unit("unit-not-delegated", SECOND, "Delegate=no"),
        ),
        (ONE, HOSTS),
    ),
    Sabotage(
        "limited memlock, a stale slurm.conf",
        (
            _unit("memlock-limited", FIRST, "LimitMEMLOCK=64K", "memlock", "jobs may lock 65536 bytes"),
            _host(
                "config-stale",
                SECOND,
                "cp /run/slurm/conf/*.conf /etc/slurm/; cp /etc/default/slurmd /root/slurmd; "
                "echo '# of last year' >>/etc/slurm/slurm.conf; echo >/etc/default/slurmd; "
                "systemctl restart slurmd",
                "cd /etc/slurm; rm -f slurm.conf gres.conf cgroup.conf topology.conf; "
                "cp /root/slurmd /etc/default/slurmd; systemctl restart slurmd",
            ),
        ),
        (NONE, HOSTS),
    ),
    Sabotage(
        "munge key of another cluster, a clock off by ten minutes",
        (
            _host(
                "munge-key",
                FIRST,
                "cp -a /etc/munge/munge.key /root/munge.key; "
                "head -c 1024 /dev/urandom >/etc/munge/munge.key; systemctl restart munge",
                "cp -a /root/munge.key /etc/munge/munge.key; systemctl restart munge; "
                "systemctl restart slurmd",
            ),
            _host(
                "clock-off",
                SECOND,
                "systemctl stop chrony; date -s '+10 minutes'",
                "date -s '-10 minutes'; systemctl start chrony; systemctl restart slurmd",
            ),
        ),
        (HOSTS,),
    ),
)


def settled(hosts: Hosts) -> None:
    """Return when slurmctld has heard of both nodes since the last fault, whatever it thinks of them."""
    time.sleep(3)
    end = time.monotonic() + 120
    while time.monotonic() < end:
        shown = hosts.ssh(CONTROLLER, ["sinfo -h -N -o '%N %T' | sort -u"]).out
        states = [line.split()[1] for line in shown.splitlines() if line.startswith((FIRST, SECOND))]
        if len(states) == 2 and all(re.fullmatch("idle|inval|drained|down", state) for state in states):
            return
        time.sleep(1)


def tried(site: Site, one: Sabotage) -> Sight:
    """Break it, see what verify sees, heal it."""
    gpus = next(node.expected.gpus for node in site.plan.nodes if node.host == SECOND)
    near = [fold_cpus(gpu.minor for gpu in gpus if gpu.numa == numa) for numa in (0, 1)]
    try:
        for fault in one.faults:
            script = fault.make.replace(_NEAR_0, near[0]).replace(_NEAR_1, near[1])
            done = site.guests.ssh(fault.host, [script or "true"])
            assert done.ok, done.err
        if one.only == (HOSTS,):
            site.guests.ssh(CONTROLLER, [_DOWN])
        settled(site.guests)
        return look_at_guests(site.checks, site.cluster.name, only=one.only)
    finally:
        for fault in one.faults:
            site.guests.ssh(fault.host, [fault.heal or "true"])
        site.guests.ssh(CONTROLLER, [_RESUME])
        settled(site.guests)


def named(report: Report) -> set[tuple[str, str]]:
    """Each finding with its hosts."""
    return {(finding.name, finding.host) for finding in report.findings}


def expected(faults: Sequence[Fault]) -> set[tuple[str, str]]:
    """The findings of these faults and no other."""
    return {(fault.finding, fold(fault.seen_on)) for fault in faults}


def seen_in_jobs(report: Report, fault: Fault) -> bool:
    """Has the check failed on the fault's hosts with its evidence?"""
    failed = [one for one in report.checks if one.name == fault.failed and one.passed is False]
    lines = [line for one in failed for line in one.evidence]
    return any(line.startswith(f"{fold(fault.seen_on)}: ") and fault.evidence in line for line in lines)
