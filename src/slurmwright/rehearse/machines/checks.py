"""What a rehearsal on guests checks after the playbooks: services, registration, GPUs in jobs, accounting."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from slurmwright.core.run import Result
from slurmwright.rehearse.machines.image import USER
from slurmwright.rehearse.machines.plan import NodeGuest, Plan
from slurmwright.rehearse.slurm_text import NodeState, read_nodes
from slurmwright.rehearse.values import NodeCount, Verdict

#: The account of all jobs.
ACCOUNT = "rehearsal"
IN_SERVICE, REGISTERED, GPUS_IN_JOBS, ACCOUNTING = "in-service", "registered", "gpus-in-jobs", "accounting"
#: Seconds until registered nodes must be idle; an emulated slurmd takes its time.
_PATIENCE = 180
#: Prints what opening each GPU gives inside a job, and the CPUs that the job may use.
_PROBE = """
import errno, glob, json, os
seen = {}
for path in sorted(glob.glob("/dev/nvidia[0-9]*")):
    try:
        os.close(os.open(path, os.O_RDWR))
        seen[path] = "opened"
    except OSError as error:
        seen[path] = errno.errorcode[error.errno]
print(json.dumps({"gpus": seen, "cpus": sorted(os.sched_getaffinity(0))}))
"""


class Hosts(Protocol):
    """Something that runs a command as root on a guest."""

    def ssh(self, name: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 120) -> Result: ...


@dataclass(frozen=True)
class Checks:
    """The guests of a plan and what runs on their server."""

    hosts: Hosts
    plan: Plan
    accounted: bool

    # -- services ---------------------------------------------------------------------------------------

    def in_service(self) -> Verdict:
        """Every daemon runs and starts at boot."""
        bad, good = [], []
        for name, units in self._units():
            done = self.hosts.ssh(name, [f"systemctl is-active {units}; systemctl is-enabled {units}"])
            words, count = done.out.split(), len(units.split())
            for at, unit in enumerate(units.split()):
                now, boot = (*words, *[""] * 2 * count)[at], (*words, *[""] * 2 * count)[count + at]
                if (now, boot) != ("active", "enabled"):
                    bad.append(f"{name}: {unit} is {now or done.last_line}, {boot or 'unknown'} at boot")
            good.append(f"{name}: {units.replace(' ', ', ')} run and start at boot")
        return Verdict(IN_SERVICE, not bad, tuple(bad or good))

    def _units(self) -> Iterator[tuple[str, str]]:
        server = ["munge", "chrony", "slurmctld"]
        server += ["mariadb", "slurmdbd"] if self.accounted else []
        yield self.plan.server, " ".join(server)
        for node in self.plan.nodes:
            yield node.host, "munge chrony slurmd"

    # -- nodes ------------------------------------------------------------------------------------------

    def registered(self) -> tuple[Verdict, NodeCount]:
        """Every guest is idle with the CPUs and GPUs that it has."""
        wanted = {node.host: node for node in self.plan.nodes}
        seen: dict[str, NodeState] = {}
        end = time.monotonic() + _PATIENCE
        while True:
            shown = read_nodes(self._server("scontrol show node -o").out)
            seen = {node.name: node for node in shown if node.name in wanted}
            if sum(node.idle for node in seen.values()) == len(wanted) or time.monotonic() > end:
                break
            time.sleep(2)
        count = NodeCount(
            len(wanted),
            sum(node.answered for node in seen.values()),
            sum(node.idle for node in seen.values()),
        )
        bad = [fault for name, guest in wanted.items() for fault in _node_faults(name, guest, seen.get(name))]
        good = [f"{name}: {_spell(guest)}, idle" for name, guest in wanted.items()]
        return Verdict(REGISTERED, not bad, tuple(bad or good)), count

    # -- jobs -------------------------------------------------------------------------------------------

    def admit(self) -> None:
        """Give the user of the jobs an account, as AccountingStorageEnforce asks of users."""
        if self.accounted:
            self._server(
                f"sacctmgr -i add account {ACCOUNT} Description=rehearsal Organization=none; "
                f"sacctmgr -i add user {USER} Account={ACCOUNT}"
            )

    def gpus_in_jobs(self) -> Verdict:
        """On each node: a job with k GPUs opens k device files and no other, on their own NUMA nodes."""
        whole = [node for node in self.plan.nodes if node.gpus and not any(gpu.caps for gpu in node.gpus)]
        if not whole:
            return Verdict.not_checked(GPUS_IN_JOBS, "no guest has whole GPUs")
        bad, good = [], []
        for node in whole:
            counts = tuple(sorted({0, 1, len(node.expected.gpus)}))
            for count in counts:
                bad += [f"{node.host}: a job with {count} GPUs {fault}" for fault in self._probe(node, count)]
            shown = ", ".join(map(str, counts))
            good.append(f"{node.host}: jobs with {shown} GPUs open theirs and no other")
        good += [
            f"{node.host}: not tried, it has no whole GPUs" for node in self.plan.nodes if node not in whole
        ]
        return Verdict(GPUS_IN_JOBS, not bad, tuple(bad or good))

    def _probe(self, node: NodeGuest, count: int) -> Iterator[str]:
        gpus = f"--gpus={count}" if count else ""
        done = self.as_user(f"srun -Q -N1 -w {node.host} {gpus} --time=5 python3 -", stdin=_PROBE)
        try:
            seen = json.loads(done.out.strip().splitlines()[-1])
        except (ValueError, IndexError):
            yield f"did not run: {done.last_line}"
            return
        yield from probe_faults(node, count, seen["gpus"], seen["cpus"])

    def accounting(self) -> Verdict:
        """A finished job is in the database with what it held."""
        if not self.accounted:
            return Verdict.not_checked(ACCOUNTING, "cluster.yaml names no database, so no job is accounted")
        node = self.plan.nodes[0]
        gpus = "--gpus=1" if node.expected.gpus else ""
        done = self.as_user(
            f"sbatch -W --parsable -w {node.host} {gpus} --time=5 -o /dev/null --wrap true", limit_s=300
        )
        number = done.out.strip().split(";")[0]
        row = ""
        end = time.monotonic() + _PATIENCE
        while number.isdigit() and time.monotonic() < end and "COMPLETED" not in row:
            row = self._server(
                f"sacct -X -n -P -j {number} -o User,Account,State,NodeList,AllocTRES"
            ).out.strip()
            time.sleep(1)
        told = "gres/gpu=1" in row if gpus else bool(row)
        if row.startswith(f"{USER}|{ACCOUNT}|COMPLETED|{node.host}|") and told:
            return Verdict(ACCOUNTING, True, (f"job {number} is accounted: {row}",))
        return Verdict(ACCOUNTING, False, (f"job {number or '?'}: sacct shows '{row}'; {done.last_line}",))

    def as_user(self, command: str, *, stdin: str = "", limit_s: float = 300) -> Result:
        """Run a shell command on the login host as the user of the jobs."""
        line = f"cd /tmp && exec runuser -u {USER} -- sh -c {shlex.quote(command)}"
        return self.hosts.ssh(self.plan.server, [line], stdin=stdin, limit_s=limit_s)

    def _server(self, command: str) -> Result:
        return self.hosts.ssh(self.plan.server, [command])


def probe_faults(node: NodeGuest, count: int, gpus: Mapping[str, str], cpus: Sequence[int]) -> Iterator[str]:
    """What is wrong with what a job saw: ENXIO is a device without driver that the cgroup lets through."""
    every = {f"/dev/nvidia{gpu.minor}" for gpu in node.gpus}
    if gpus.keys() != every:
        yield f"sees {', '.join(sorted(gpus)) or 'no device file'}, the node has {', '.join(sorted(every))}"
    reached = sorted(path for path, how in gpus.items() if how in ("ENXIO", "opened"))
    if len(reached) != count:
        yield f"opens {', '.join(reached) or 'none'}"
    odd = {path: how for path, how in gpus.items() if how not in ("ENXIO", "opened", "EPERM")}
    if odd:
        yield f"is told {odd}"
    if 0 < count < len(node.expected.gpus):
        wanted = {gpu.numa for gpu in node.expected.gpus if f"/dev/nvidia{gpu.minor}" in reached}
        numa = {numa_of(node, cpu) for cpu in cpus}
        if None not in wanted and not numa <= wanted:
            yield f"opens {', '.join(reached)} of NUMA node {_words(wanted)} and runs on {_words(numa)}"


def numa_of(node: NodeGuest, cpu: int) -> int:
    """The NUMA node, as the hardware numbers it, of a cpu of the guest."""
    place = cpu // (node.shape.cores * node.shape.threads)
    return node.expected.layout.nodes[place].id


def _words(numbers: set[int] | set[int | None]) -> str:
    return ", ".join(sorted(map(str, numbers)))


def _node_faults(name: str, guest: NodeGuest, seen: NodeState | None) -> Iterator[str]:
    if seen is None:
        yield f"{name}: slurmctld does not show it"
        return
    if not seen.idle:
        yield f"{name}: state {seen.state}" + (f", reason: {seen.reason}" if seen.reason else "")
    gpus = sum(number for _, number in seen.gpus)
    if (seen.cpus, gpus) != (guest.shape.cpus, len(guest.expected.gpus)):
        yield f"{name}: Slurm schedules {seen.cpus} CPUs and {gpus} GPUs; the guest has {_spell(guest)}"


def _spell(guest: NodeGuest) -> str:
    return f"{guest.shape.cpus} CPUs on {guest.shape.numa} NUMA nodes and {len(guest.expected.gpus)} GPUs"
