"""The last question of a plan: did slurmctld and the nodes take it?

A configless slurmd keeps what it fetched below its SlurmdSpoolDir, in `conf-cache` (slurm.conf(5), configless
operation), and confirms by the hash of that copy.
"""

from __future__ import annotations

import posixpath

from slurmwright.apply import placing
from slurmwright.apply.control import names
from slurmwright.apply.hosts import on_each
from slurmwright.apply.tools import StopError, Work, refuse, until
from slurmwright.core.hosts import fold
from slurmwright.plan import Step
from slurmwright.plan.sides import MAIN, Side, side_of

_SPOOL = "/var/spool/slurmd"


def check(work: Work, step: Step) -> None:
    """slurmctld answers, every node is heard that was heard before, changed nodes hold the new slurm.conf."""
    limits, side = work.limits, side_of(work.plan.new)
    if not until(work.control.answers, limits.answer_s, limits.poll_s):
        raise StopError("slurmctld does not answer")
    until(lambda: not _silent(work, side), limits.answer_s, limits.poll_s)
    if silent := _silent(work, side):
        raise StopError(f"{fold(silent)}: slurmctld does not hear them; look at slurmd there", hosts=silent)
    wanted = placing.sha256(side.files[MAIN].text)
    node_of = {host: name for name, host in side.nodes.items()}
    confirming = [host for host in _confirming(step) if node_of.get(host) not in work.journal.away]
    failed: dict[str, str] = {}

    def other() -> bool:
        nonlocal failed
        failed = {host: why for host, why in on_each(confirming, ask).items() if why}
        return not failed

    def ask(host: str) -> str:
        path = cache_of(side, host)
        done = work.hosts.run(host, placing.sums([path]).argv)
        seen = placing.read_sums(done.out).get(path, "none")
        if not done.ok:
            return done.last_line
        return "" if seen == wanted else f"{path} has sha256 {seen[:12]}, not {wanted[:12]}"

    until(other, limits.answer_s / 2, limits.poll_s)
    refuse(failed, "does not confirm its configuration")


def _silent(work: Work, side: Side) -> list[str]:
    seen = work.control.nodes()
    wanted = [name for name in side.nodes if name not in work.journal.away]
    return [name for name in wanted if name not in seen or seen[name].away]


def _confirming(step: Step) -> tuple[str, ...]:
    """The hosts that the plan's text of the step names."""
    head, sign, _ = step.text.rpartition(" confirm the sha256")
    return names(head.rpartition("; ")[2]) if sign else ()


def cache_of(side: Side, host: str) -> str:
    """Where slurmd of that host keeps the slurm.conf that it fetched."""
    pair = side.slurm.get("SlurmdSpoolDir")
    node = next((name for name, its in side.nodes.items() if its == host), host)
    spool = pair.value if pair else _SPOOL
    return posixpath.join(spool.replace("%h", host).replace("%n", node), "conf-cache", MAIN)
