"""Runs verify on the guests and turns its checks into scenarios, its findings into those of the rehearsal."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from slurmwright.core.run import Result
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machines.checks import Checks
from slurmwright.rehearse.machines.image import USER
from slurmwright.rehearse.machines.plan import NodeGuest
from slurmwright.rehearse.values import Verdict
from slurmwright.topology.cpus import CpuLayout, NumaNode
from slurmwright.verify.judge import Ground
from slurmwright.verify.run import Sight, look
from slurmwright.verify.values import Check, Report
from slurmwright.verify.wanted import Wanted

NAME = "verify"
#: Seconds for each launch: emulated guests take their time.
_PATIENCE = 120
#: The user's key for SSH, as on clusters whose home folders are shared.
_MAKE_KEY = f"""
key=~{USER}/.ssh/id_ed25519
test -e $key || runuser -u {USER} -- ssh-keygen -q -t ed25519 -N "" -f $key
cat $key.pub
"""
_TAKE_KEY = f"""
install -d -m 0700 -o {USER} -g {USER} ~{USER}/.ssh
cat > ~{USER}/.ssh/authorized_keys
cat /etc/ssh/ssh_host_ed25519_key.pub
"""


@dataclass(frozen=True)
class _AsUser:
    """Commands of the user of the jobs, on the guest where jobs are submitted."""

    checks: Checks

    def run(
        self,
        argv: Sequence[str],
        *,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        limit_s: float = 60,
    ) -> Result:
        words = ["env", *(f"{key}={value}" for key, value in env.items()), *argv] if env else argv
        line = f"cd /tmp && exec runuser -u {USER} -- {shlex.join(words)}"
        return self.checks.hosts.ssh(self.checks.plan.server, [line], stdin=stdin, limit_s=limit_s + 30)


def look_at_guests(
    checks: Checks,
    cluster: str,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    *,
    nodes: Collection[str] = (),
    only: Collection[str] = (),
    patience: int = _PATIENCE,
) -> Sight:
    """What verify sees on the compute guests, or on some of them; what Slurm cannot reach is asked as root
    over SSH."""
    shapes = {node.host: as_guest(node) for node in checks.plan.nodes if not nodes or node.host in nodes}
    wanted = Wanted(tuple(shapes), timeout=patience, only=frozenset(only))

    def admin(host: str, script: str) -> Result:
        return checks.hosts.ssh(host, ["sh -s"], stdin=script, limit_s=120)

    return look(cluster, shapes, wanted, _AsUser(checks), Ground(stand_ins=True), progress, admin)


def let_in(checks: Checks) -> None:
    """Give the user of the jobs a key that the compute guests take, for sessions over SSH."""
    server = checks.plan.server
    checks.hosts.ssh(server, [f"install -d -m 0700 -o {USER} -g {USER} ~{USER}/.ssh"])
    key = checks.hosts.ssh(server, [_MAKE_KEY]).out
    known = []
    for node in checks.plan.nodes:
        words = checks.hosts.ssh(node.host, [_TAKE_KEY], stdin=key).out.split()
        known.append(" ".join([node.host, *words[:2]]))
    place = f"cat > ~{USER}/.ssh/known_hosts"
    checks.hosts.ssh(server, [place], stdin="\n".join([*known, ""]))


def as_guest(node: NodeGuest) -> ExpectedNode:
    """What the guest must show: fewer cores, and NUMA nodes that QEMU counts by their place, whatever the
    hardware calls them."""
    places = {one.id: at for at, one in enumerate(node.expected.layout.nodes)}
    gpus = tuple(
        replace(gpu, numa=None if gpu.numa is None else places[gpu.numa]) for gpu in node.expected.gpus
    )
    return replace(node.expected, gpus=gpus, layout=_layout(node))


def _layout(node: NodeGuest) -> CpuLayout:
    """Linux gives the threads of a core neighbouring numbers in QEMU."""
    shape = node.shape
    cores = [
        tuple(range(core * shape.threads, (core + 1) * shape.threads))
        for core in range(shape.numa * shape.cores)
    ]
    firsts = range(0, len(cores), shape.cores)
    return CpuLayout(
        shape.threads,
        tuple(
            NumaNode(at, at // shape.numa_per_socket, first, tuple(cores[first : first + shape.cores]))
            for at, first in enumerate(firsts)
        ),
    )


def verdicts(report: Report) -> tuple[Verdict, ...]:
    """One scenario for each check, whatever it gave on which node."""
    names = dict.fromkeys(check.name for check in report.checks)
    return tuple(_verdict(name, [one for one in report.checks if one.name == name]) for name in names)


def _verdict(name: str, checks: Sequence[Check]) -> Verdict:
    title = f"{NAME}/{name}"
    bad = [line for check in checks if check.passed is False for line in check.evidence]
    good = [f"{check.nodes}: {line}" for check in checks if check.passed for line in check.evidence]
    blind = [f"{check.nodes}: not checked: {check.skipped}" for check in checks if check.passed is None]
    if bad:
        return Verdict(title, False, tuple(bad))
    return Verdict(title, True, (*good, *blind)) if good else Verdict.not_checked(title, *blind)
