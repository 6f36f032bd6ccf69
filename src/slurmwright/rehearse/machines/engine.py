"""Engine `machines`: brings a bundle to virtual machines with the real playbooks and judges the outcome.

plan ──cut──▶ bundle for the guests ──boot──▶ bare hosts ──apply──▶ a cluster ──checks──▶ Rehearsal
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from slurmwright.apply.command import Request
from slurmwright.apply.events import Event
from slurmwright.apply.outcome import Outcome
from slurmwright.apply.run import Watch, apply
from slurmwright.apply.steps import playbook_file
from slurmwright.core.bundle import Bundle
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.release import Release
from slurmwright.core.run import Local
from slurmwright.model.cluster import Cluster
from slurmwright.model.facts import HostFacts
from slurmwright.rehearse.cast import cast_of
from slurmwright.rehearse.expect import ExpectedNode
from slurmwright.rehearse.machines import checks, verified
from slurmwright.rehearse.machines.checks import Checks
from slurmwright.rehearse.machines.cut import cut
from slurmwright.rehearse.machines.guests import Guests
from slurmwright.rehearse.machines.image import Image
from slurmwright.rehearse.machines.keys import known_hosts, make_key
from slurmwright.rehearse.machines.kvm import kvm_runs
from slurmwright.rehearse.machines.plan import Plan, plan
from slurmwright.rehearse.machines.scratch import BUNDLE, adaptations, write_inventory
from slurmwright.rehearse.machines.seed import Identity, tar
from slurmwright.rehearse.machines.shape import SERVER
from slurmwright.rehearse.machines.wiring import wire
from slurmwright.rehearse.values import Adaptation, NodeCount, Phase, Rehearsal, Verdict

ENGINE = "machines"
BOOTSTRAPPED = "bootstrapped"
Progress = Callable[[str, int, int], None]
_AFTER = (checks.IN_SERVICE, checks.REGISTERED, checks.GPUS_IN_JOBS, checks.ACCOUNTING, verified.NAME)
_FIXES = {
    BOOTSTRAPPED: "read the named task; `slurmwright apply` does the same on the real hosts",
    checks.IN_SERVICE: "look at the journal of the named daemon: --keep leaves the guests up",
    checks.REGISTERED: "compare NodeName and gres.conf lines with the hardware; `slurmwright types` draws it",
    checks.GPUS_IN_JOBS: "check ConstrainDevices in cgroup.conf and Cores= in gres.conf",
    checks.ACCOUNTING: "AccountingStorageTRES must name gres/gpu; slurmdbd must know the cluster",
}


@dataclass
class Site:
    """The guests of one cluster, up and reachable, and the inventory that leads to them."""

    cluster: Cluster
    plan: Plan
    guests: Guests
    image: Image
    kvm: bool
    adapted: tuple[Adaptation, ...]
    progress: Progress
    phases: list[Phase] = field(default_factory=list)

    @property
    def inventory(self) -> Path:
        """The folder of the scratch inventory."""
        return self.guests.folder / "inventory"

    @property
    def bundle(self) -> Path:
        """The cut bundle."""
        return self.inventory / BUNDLE

    @property
    def checks(self) -> Checks:
        control = self.cluster.control
        accounted = self.cluster.accounting.enabled and control.database is not None
        return Checks(self.guests, self.plan, accounted)

    @property
    def limit(self) -> str:
        return ",".join(self.plan.guests)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        self.progress(name, len(self.phases), len(self.phases) + 1)
        start = time.monotonic()
        try:
            yield
        finally:
            self.phases.append(Phase(name, round(time.monotonic() - start, 1)))

    def environment(self) -> dict[str, str]:
        """For Ansible: its sockets and files go with the guests."""
        ours = {
            "ANSIBLE_SSH_CONTROL_PATH_DIR": str(self.guests.folder / "cp"),
            "ANSIBLE_HOME": str(self.guests.folder / "ansible"),
            "ANSIBLE_LOCAL_TEMP": str(self.guests.folder / "ansible" / "tmp"),
            "ANSIBLE_TIMEOUT": "60",
            # As in our ansible.cfg, but not compressed: that costs an emulated guest more than it saves.
            "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=120s "
            "-o ServerAliveInterval=10 -o ServerAliveCountMax=6",
        }
        return {**os.environ, **ours}

    def apply(self, watch: Watch | None = None) -> Outcome:
        """Bring the guests into service, as `slurmwright apply` does."""
        request = Request(self.inventory, playbook_file("site"), self.bundle, self.limit)
        return apply(request, self.plan.guests, Local(), self.environment(), watch or self._watch)

    def power_on(self, name: str, kernel_options: str = "") -> None:
        """Switch one guest on again."""
        self.guests.start(self.guests.guests[name], self.image, self.kvm, kernel_options)

    def _watch(self, event: Event) -> None:
        if event.kind == "task":
            self.progress(event.task, 0, 1)


@contextmanager
def site(
    inventory: Path,
    cluster: Cluster,
    facts: Mapping[str, HostFacts],
    expected: Mapping[str, ExpectedNode],
    bundle: Bundle,
    image: Image,
    progress: Progress,
    count: int = 2,
) -> Iterator[Site]:
    """Guests for the cluster, booted and bare, with an inventory; gone at the end unless they are kept."""
    guests_plan = plan(cluster, facts, expected, count)
    cut_bundle, adapted = cut(bundle, guests_plan)
    with Guests() as guests:
        kvm = kvm_runs(image)
        made = adaptations(cluster, guests_plan)
        one = Site(cluster, guests_plan, guests, image, kvm, adapted + made, progress)
        with one.phase("prepare"):
            shapes = {guests_plan.server: SERVER, **{node.host: node.shape for node in guests_plan.nodes}}
            guests.guests = wire(shapes, guests.folder)
            _lay(one, cut_bundle, expected)
            release = Release.parse(bundle.release)
            write_inventory(
                one.inventory, inventory, cut_bundle, guests_plan, guests.guests, guests.access, release
            )
        with one.phase("boot"):
            for guest in guests.guests.values():
                guests.start(guest, image, kvm)
            total = len(guests.guests)
            guests.wait_for_ssh(list(guests.guests), lambda done: progress("guests booting", done, total))
        yield one


def rehearse(one: Site, edited: tuple[str, ...], keep: bool = False) -> Rehearsal:
    """Bring the guests into service and judge them. Raises SlurmwrightError when the engine itself cannot."""
    with one.phase("apply"):
        outcome = one.apply()
    done = one.guests.ssh(one.plan.server, ["slurmctld", "-V"])
    version = (done.out.split() or [one.cluster.slurm.release.series])[-1]
    verdicts = [bootstrapped(outcome)]
    found: tuple[Finding, ...] = ()
    count = NodeCount(len(one.plan.nodes), 0, 0)
    if verdicts[0].passed:
        more, count, found = _check(one)
        verdicts += more
    else:
        verdicts += [
            Verdict.not_checked(name, f"{BOOTSTRAPPED} failed: {verdicts[0].evidence[0]}") for name in _AFTER
        ]
    enter = ""
    if keep:
        one.guests.keep()
        ports = ((name, guest.ssh_port) for name, guest in one.guests.guests.items())
        lines = [f"{one.guests.access.shown(port)}    # {name}" for name, port in ports]
        enter = "\n".join([*lines, f"kill {one.guests.pid}    # ends all and removes {one.guests.folder}"])
    edits = tuple(
        Adaptation(source, 0, "", "", "", "edited since it was rendered; rehearsed as it is now")
        for source in edited
    )
    return Rehearsal(
        ENGINE,
        version,
        count,
        tuple(verdicts),
        edits + one.adapted,
        (*_findings(verdicts), *found),
        enter,
        (*one.phases,),
    )


def _lay(one: Site, bundle: Bundle, expected: Mapping[str, ExpectedNode]) -> None:
    """Keys, disks and what makes each guest itself."""
    guests, local = one.guests, Local()
    make_key(guests.access.key, local)
    login = Path(f"{guests.access.key}.pub").read_text(encoding="utf-8")
    hosts = addresses(bundle, expected, one.plan)
    gpus = {node.host: node.gpus for node in one.plan.nodes}
    public = {}
    for name, guest in guests.guests.items():
        guest.folder.mkdir(mode=0o700)
        key = guest.folder / "host_key"
        make_key(key, local)
        public[name] = Path(f"{key}.pub").read_text(encoding="utf-8")
        private = key.read_text(encoding="utf-8")
        macs = guest.mac(0), guest.mac(1)
        own = Identity(name, hosts[name], macs, hosts, private, public[name], login, gpus.get(name, ()))
        guest.seed.write_bytes(tar(own))
        guests.make_disk(guest, one.image)
    ports = {name: guest.ssh_port for name, guest in guests.guests.items()}
    guests.access.known_hosts.write_text(known_hosts(public, ports), encoding="utf-8")


def addresses(bundle: Bundle, expected: Mapping[str, ExpectedNode], one: Plan) -> dict[str, str]:
    """Name → address on the inner network, as the bundle gives them; the server answers for its parts too."""
    cast = cast_of(bundle, {node.host: expected[node.host] for node in one.nodes})
    found = {host.name: host.address for host in cast.hosts if host.name not in one.moved}
    server = found[one.server]
    for host in cast.hosts:
        found |= {alias: found.get(host.name, server) for alias in host.aliases if "." not in alias}
    return {**found, **dict.fromkeys(one.moved, server)}


def _check(one: Site) -> tuple[list[Verdict], NodeCount, tuple[Finding, ...]]:
    judge = one.checks
    with one.phase("services and registration"):
        services = judge.in_service()
        registered, count = judge.registered()
    if not registered.passed:
        why = f"{checks.REGISTERED} failed: {registered.evidence[0]}"
        rest = [Verdict.not_checked(name, why) for name in _AFTER[2:]]
        return [services, registered, *rest], count, ()
    with one.phase("jobs"):
        judge.admit()
        jobs = [judge.gpus_in_jobs(), judge.accounting()]
    with one.phase(verified.NAME):
        verified.let_in(judge)
        report = verified.look_at_guests(judge, one.cluster.name, one.progress).report()
    return [services, registered, *jobs, *verified.verdicts(report)], count, report.findings


def bootstrapped(outcome: Outcome) -> Verdict:
    """Did the playbook end well on every guest?"""
    bad = [
        f"{host.host}: {host.state}" + (f" at '{host.task}': {host.message}" if host.task else "")
        for host in outcome.hosts
        if not host.done
    ]
    good = [f"{host.host}: {host.changed} tasks changed something" for host in outcome.hosts]
    if outcome.exit_code == 0:
        return Verdict(BOOTSTRAPPED, True, tuple(good))
    return Verdict(BOOTSTRAPPED, False, tuple(bad or outcome.notes or ("the playbook ended early",)))


def _findings(verdicts: list[Verdict]) -> Iterator[Finding]:
    for verdict in verdicts:
        if verdict.failed and verdict.name in _FIXES:
            yield Finding(
                f"rehearse/{verdict.name}",
                verdict.name,
                Severity.ERROR,
                verdict.evidence[0],
                evidence=verdict.evidence,
                fix=_FIXES[verdict.name],
            )
