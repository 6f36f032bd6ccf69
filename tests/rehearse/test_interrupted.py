"""A plan that is broken off anywhere ends in a cluster that works and a state that the next run understands.

One small cluster of real daemons; every case changes what the case before left, and its first jobs run
through all of them. The executor is a process of its own that is killed where a case says.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from tests.rehearse.test_planned import SHAPE, changed, first

from slurmwright.apply.control import Control
from slurmwright.apply.execute import Ended
from slurmwright.apply.hosts import UNREACHED
from slurmwright.apply.journal import Book
from slurmwright.apply.lock import locked
from slurmwright.apply.planned import next_of, run
from slurmwright.apply.tools import Work
from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.release import Release
from slurmwright.core.run import Result
from slurmwright.plan import Plan, compare
from slurmwright.rehearse.adapt import adapt
from slurmwright.rehearse.carry import LIMITS, running
from slurmwright.rehearse.hosts import MachineDaemons, MachineHosts
from slurmwright.rehearse.machine import Machine, SlurmRoot
from slurmwright.rehearse.planned import both, started
from slurmwright.rehearse.sandbox import Sandbox
from slurmwright.rehearse.scenarios import jobs

pytestmark = pytest.mark.rehearsal
NODES = ["n1", "n2", "n3"]
#: Files of the controller lie on a disk of this size.
DISK = "256k"
CONF = "/etc/slurm/slurm.conf"
Meets = Callable[[str, Sequence[str]], bool]


class Broken(MachineHosts):
    """Hosts on which something happens at the first command that `meets`: `what` before it or `after` it."""

    def __init__(
        self, machine: Machine, meets: Meets, what: Callable[[], Result | None], after: bool
    ) -> None:
        super().__init__(machine)
        self._meets, self._what, self._after = meets, what, after

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        met = self._meets(host, argv)
        if met and not self._after and (said := self._what()) is not None:
            return said
        done = super().run(host, argv, stdin=stdin, limit_s=limit_s)
        if met and self._after:
            self._what()
        return done


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Lab:
    """The running cluster, its present bundle, and the folder of lock and journal."""

    def __init__(self, series: str, folder: Path, root: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.shapes = dict.fromkeys(NODES, SHAPE)
        self.number = 5
        text = {"NodeName=n[1-4]": "NodeName=n[1-2]"}
        bundle = changed(first(series), "slurm.conf", *next(iter(text.items())))
        bundle = changed(bundle, "gres.conf", "n[1-5]", "n[1-3]")
        self.now = adapt(bundle, Release.parse(series), self.shapes)[0]
        every = changed(self.now, "slurm.conf", "NodeName=n[1-2]", "NodeName=n[1-3]")
        sandbox = stack.enter_context(Sandbox())
        self.machine = started(sandbox, SlurmRoot(root), both(self.now, every), self.now, self.shapes)
        self.jobs = {number: self.submit(f"n{number}") for number in (1, 2)}
        jobs.settle(
            self.machine,
            tuple(self.jobs.values()),
            lambda seen: all(job.state == "RUNNING" for job in seen.values()),
        )

    def submit(self, node: str) -> int:
        words = ["--parsable", "-o", "/dev/null", "-w", node, "--mem=1", "--wrap", "sleep 3600"]
        return int(self.machine.ctl("sbatch", *words).out.split(";")[0])

    def target(self) -> Bundle:
        """One more second of KillWait: a change that every case can make."""
        self.number += 1
        return changed(self.now, "slurm.conf", f"KillWait={self.number - 1}", f"KillWait={self.number}")

    def work(
        self, plan: Plan | None, rollback: bool = False, hosts: MachineHosts | None = None
    ) -> tuple[Work, bool]:
        book = Book(self.folder)
        following = next_of(book, plan, rollback)
        assert following is not None
        this = following.plan
        work = Work(
            this,
            following.journal,
            hosts or MachineHosts(self.machine),
            MachineDaemons(self.machine, this.new, hosts),
            save=lambda journal: book.write(this, journal),
            waiting=lambda ids: None,
            limits=replace(LIMITS, answer_s=40),
        )
        return work, following.begins

    def apply(
        self, plan: Plan | None = None, rollback: bool = False, hosts: MachineHosts | None = None
    ) -> Ended:
        return run(*self.work(plan, rollback, hosts))

    def killed(
        self,
        plan: Plan | None,
        meets: Meets | None = None,
        saves: int = 0,
        rollback: bool = False,
        max_down: int = 32,
    ) -> None:
        """Carry out in a process that is killed before the command that `meets`, or after so many notes of
        its journal."""

        def main() -> None:
            hosts = Broken(self.machine, meets, die, False) if meets else None
            with locked(self.folder):
                work, begins = self.work(plan, rollback, hosts)
                work.limits = replace(work.limits, max_down=max_down)
                keep, left = work.save, [saves]

                def save(journal: object) -> None:
                    keep(journal)  # type: ignore[arg-type]
                    left[0] -= 1
                    if left[0] == 0:
                        die()

                work.save = save
                run(work, begins)

        child = multiprocessing.get_context("fork").Process(target=main)
        child.start()
        child.join(120)
        assert child.exitcode == -signal.SIGKILL
        with locked(self.folder) as word:
            assert f"process {child.pid}" in word

    def shown(self, key: str) -> str:
        for line in self.machine.ctl("scontrol", "show", "config").out.splitlines():
            name, _, value = line.partition("=")
            if name.strip() == key:
                return value.split()[0]
        return ""

    def settled(self, bundle: Bundle, *nodes: str) -> None:
        """The bundle is in place and in use, its nodes serve, and the first jobs run on as they began."""
        self.now = bundle
        hosts = MachineHosts(self.machine)
        assert hosts.run("ctl1", ["cat", CONF]).out == (bundle.find(CONF) or pytest.fail("no file")).text
        assert "slurmwright-new" not in hosts.run("ctl1", ["ls", "-A", "/etc/slurm"]).out
        self.number = int(self.shown("KillWait"))
        assert f"KillWait={self.number}\n" in (bundle.find(CONF) or pytest.fail("no file")).text
        seen = {node.name: node.state for node in jobs.nodes(self.machine)}
        assert set(seen) == {"n1", "n2", *nodes}
        assert not [
            name for name, state in seen.items() if "DRAIN" in state or "DOWN" in state or "*" in state
        ]
        assert set(self.jobs.values()) <= set(running(self.machine))
        assert all(row["Restarts"] == "0" for row in running(self.machine).values())


@pytest.fixture(scope="module")
def lab(slurm_root: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with ExitStack() as stack:
        yield lab_of("24.11", slurm_root, tmp_path_factory.mktemp("apply"), stack)


@pytest.fixture(scope="module")
def stopping(slurm_root: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A release in which slurmctld is stopped around a change of the set of nodes."""
    with ExitStack() as stack:
        yield lab_of("22.05", slurm_root, tmp_path_factory.mktemp("apply"), stack)


def lab_of(series: str, root: Callable[[str], Path], folder: Path, stack: ExitStack) -> Lab:
    start = Machine.start_munge

    def on_small_disk(machine: Machine) -> None:
        held = f"{machine.sandbox.folder}/hosts/ctl1/files/etc/slurm"
        machine.sandbox.script(
            f"cp -a {held} {held}.kept; mount -t tmpfs -o size={DISK} small {held}\n"
            f"cp -a {held}.kept/. {held}/"
        )
        start(machine)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Machine, "start_munge", on_small_disk)
        return Lab(series, folder, root(series), stack)


def has(*words: str) -> Meets:
    return lambda _, argv: all(any(word in one for one in argv) for word in words)


@pytest.mark.parametrize("saves", range(1, 10))
def test_killed_between_two_notes_of_the_journal_the_next_run_goes_on(lab: Lab, saves: int) -> None:
    target = lab.target()
    lab.killed(compare(lab.now, target), saves=saves)
    ended = lab.apply()
    assert ended.exit_code == 0, ended.why
    lab.settled(target)


INSIDE = {
    "put": has("cat >"),
    "confirm": has("sha256sum", "slurmwright-new"),
    "activate": has("shift 2", ".slurm.conf.slurmwright-new"),
    "reconfigure": has("reconfigure"),
    "check": has("conf-cache"),
}


@pytest.mark.parametrize("inside", [name for name in INSIDE if name != "check"])
def test_killed_inside_a_step_the_next_run_goes_on(lab: Lab, inside: str) -> None:
    target = lab.target()
    plan = compare(lab.now, target)
    lab.killed(plan, INSIDE[inside])
    ended = lab.apply(plan)
    assert ended.exit_code == 0, ended.why
    lab.settled(target)


@pytest.mark.parametrize("inside", ["confirm", "activate", "reconfigure"])
def test_killed_inside_a_step_a_rollback_returns(lab: Lab, inside: str) -> None:
    former = lab.now
    lab.killed(compare(former, lab.target()), INSIDE[inside])
    ended = lab.apply(rollback=True)
    assert (ended.exit_code, ended.why) == (0, ())
    lab.settled(former)


def test_a_rollback_that_is_killed_itself_goes_on(lab: Lab) -> None:
    former = lab.now
    lab.killed(compare(former, lab.target()), INSIDE["reconfigure"])
    lab.killed(None, INSIDE["activate"], rollback=True)
    ended = lab.apply()
    assert ended.exit_code == 0, ended.why
    assert ended.rollback
    lab.settled(former)


def test_what_was_finished_can_be_taken_back(lab: Lab) -> None:
    former, target = lab.now, lab.target()
    assert lab.apply(compare(former, target)).exit_code == 0
    lab.settled(target)
    assert lab.apply(rollback=True).exit_code == 0
    lab.settled(former)
    with pytest.raises(SlurmwrightError, match="in place already"):
        lab.apply(rollback=True)


def test_a_host_that_is_not_reached_stops_everything_before_it_begins(lab: Lab) -> None:
    former = lab.now
    gone = Broken(
        lab.machine, lambda host, _: host == "ctl1", lambda: Result((), UNREACHED, "", "away"), False
    )
    with pytest.raises(SlurmwrightError, match=r"ctl1 cannot be used .*nothing was changed"):
        lab.apply(compare(former, lab.target()), hosts=gone)
    lab.settled(former)


@pytest.mark.parametrize("inside", ["put", "activate", "reconfigure"])
def test_a_host_that_is_lost_on_the_way_is_named_and_the_next_run_goes_on(lab: Lab, inside: str) -> None:
    target = lab.target()
    gone = Broken(lab.machine, INSIDE[inside], lambda: Result((), UNREACHED, "", "away"), False)
    ended = lab.apply(compare(lab.now, target), hosts=gone)
    assert ended.exit_code == 3
    assert "away" in " ".join(ended.why)
    assert {step.action for step in ended.not_done} >= {"check"}
    ended = lab.apply()
    assert ended.exit_code == 0, ended.why
    lab.settled(target)


def test_a_full_disk_stops_before_anything_is_in_place(lab: Lab) -> None:
    former, target, hosts = lab.now, lab.target(), MachineHosts(lab.machine)
    fill = "cat /dev/zero > /etc/slurm/big 2>/dev/null; :"
    hosts.run("ctl1", ["sh", "-c", fill])
    ended = lab.apply(compare(former, target))
    assert ended.exit_code == 3
    assert "No space left" in " ".join(ended.why)
    assert hosts.run("ctl1", ["cat", CONF]).out == (former.find(CONF) or pytest.fail("no file")).text
    hosts.run("ctl1", ["rm", "/etc/slurm/big"])
    ended = lab.apply()
    assert ended.exit_code == 0, ended.why
    lab.settled(target)


def test_a_controller_that_dies_between_files_and_reconfigure_is_started(lab: Lab) -> None:
    target, machine = lab.target(), lab.machine

    def kill() -> None:
        machine.on_host("ctl1", ["sh", "-c", "kill -9 $(cat /run/slurmctld.pid)"])

    broken = Broken(machine, INSIDE["activate"], kill, True)
    ended = lab.apply(compare(lab.now, target), hosts=broken)
    assert ended.exit_code == 0, ended.why
    lab.settled(target)


def test_a_file_edited_by_hand_is_not_overwritten(lab: Lab) -> None:
    former, hosts = lab.now, MachineHosts(lab.machine)
    hosts.run("ctl1", ["sh", "-c", f"echo '# by hand' >> {CONF}"])
    with pytest.raises(SlurmwrightError, match=r"stale: .*\n  ctl1: /etc/slurm/slurm.conf is another"):
        lab.apply(compare(former, lab.target()))
    assert hosts.run("ctl1", ["cat", CONF]).out.endswith("# by hand\n")
    hosts.run("ctl1", ["sed", "-i", "$d", CONF])
    lab.settled(former)


def test_a_node_comes_though_the_run_is_killed_at_its_start_and_at_its_check(lab: Lab) -> None:
    target = changed(lab.target(), "slurm.conf", "NodeName=n[1-2]", "NodeName=n[1-3]")
    lab.killed(compare(lab.now, target), lambda host, argv: host == "n3" and "slurmd" in argv)
    lab.killed(None, INSIDE["check"])
    ended = lab.apply()
    assert ended.exit_code == 0, ended.why
    lab.settled(target, "n3")


def test_a_drain_that_is_killed_or_waits_in_vain_is_taken_back_and_its_job_runs_on(lab: Lab) -> None:
    former = lab.now
    job = lab.submit("n3")
    target = changed(lab.target(), "slurm.conf", "NodeName=n[1-3]", "NodeName=n[1-2]")
    jobs.settle(lab.machine, (job,), lambda seen: all(one.state == "RUNNING" for one in seen.values()))
    lab.killed(compare(former, target), has("squeue", "n3"))
    work, begins = lab.work(None)
    work.limits = replace(work.limits, drain_s=1)
    ended = run(work, begins)
    assert ended.exit_code == 3
    assert str(job) in ended.why[0]
    assert lab.apply(rollback=True).exit_code == 0
    assert job in running(lab.machine)
    lab.settled(former, "n3")
    lab.machine.ctl("scancel", str(job))


def test_a_node_that_somebody_else_drained_stays_drained(lab: Lab) -> None:
    lab.machine.ctl("scontrol", "update", "NodeName=n3", "State=DRAIN", "Reason=broken fan")
    target = changed(lab.now, "slurm.conf", "RealMemory=2000", "RealMemory=1900")
    work, begins = lab.work(compare(lab.now, target))
    work.waiting = lambda ids: None
    ended = run(work, begins)
    assert ended.exit_code == 0, ended.why
    state = next(node for node in jobs.nodes(lab.machine) if node.name == "n3")
    assert "DRAIN" in state.state
    assert "broken fan" in state.reason
    lab.machine.ctl("scontrol", "update", "NodeName=n3", "State=RESUME")
    lab.settled(target, "n3")


def test_a_node_goes_though_the_run_is_killed_at_its_stop(lab: Lab) -> None:
    target = changed(lab.target(), "slurm.conf", "NodeName=n[1-3]", "NodeName=n[1-2]")
    lab.killed(compare(lab.now, target), lambda host, argv: host == "n3" and "kill" in " ".join(argv))
    ended = lab.apply()
    assert ended.exit_code == 0, ended.why
    lab.settled(target)


def test_a_partition_that_was_drained_in_vain_is_given_back_and_one_that_is_empty_goes(lab: Lab) -> None:
    former = changed(
        lab.target(), "slurm.conf", "Default=YES\n", "Default=YES\nPartitionName=some Nodes=n2\n"
    )
    assert lab.apply(compare(lab.now, former)).exit_code == 0
    lab.settled(former)
    target = changed(lab.target(), "slurm.conf", "PartitionName=some Nodes=n2\n", "")
    lab.killed(compare(former, target), has("squeue", "some"))
    assert Control(MachineHosts(lab.machine), ["ctl1"]).partition_states() == {"all": "UP", "some": "DRAIN"}
    assert lab.apply(rollback=True).exit_code == 0
    assert Control(MachineHosts(lab.machine), ["ctl1"]).partition_states() == {"all": "UP", "some": "UP"}
    lab.settled(former)
    target = changed(lab.target(), "slurm.conf", "PartitionName=some Nodes=n2\n", "")
    assert lab.apply(compare(former, target)).exit_code == 0
    lab.settled(target)


def daemon(name: str, host: str) -> Meets:
    """The start of a daemon on a host."""
    return lambda where, argv: where == host and argv[0] == name


def test_a_run_that_is_killed_while_slurmctld_is_stopped_goes_on(stopping: Lab) -> None:
    target = changed(stopping.target(), "slurm.conf", "NodeName=n[1-2]", "NodeName=n[1-3]")
    plan = compare(stopping.now, target)
    assert "stop" in [step.action for step in plan.steps]
    stopping.killed(plan, daemon("slurmctld", "ctl1"))
    ended = stopping.apply()
    assert ended.exit_code == 0, ended.why
    stopping.settled(target, "n3")


def test_a_rollback_starts_the_slurmctld_that_a_killed_run_left_stopped(stopping: Lab) -> None:
    former = stopping.now
    target = changed(stopping.target(), "slurm.conf", "RealMemory=2000", "RealMemory=1900")
    target = changed(target, "slurm.conf", "NodeName=n[1-3]", "NodeName=n[1-2]")
    stopping.killed(compare(former, target), daemon("slurmctld", "ctl1"))
    ended = stopping.apply(rollback=True)
    assert ended.exit_code == 0, ended.why
    stopping.settled(former, "n3")


def test_a_wave_that_was_done_is_not_done_again(stopping: Lab) -> None:
    target = changed(stopping.target(), "slurm.conf", "NodeName=n[1-3]", "NodeName=n[1-2]")
    plan = compare(stopping.now, target)
    stopping.killed(plan, daemon("slurmd", "n2"), max_down=1)
    assert "n1" in stopping.work(None)[0].journal.hosts
    again: list[str] = []
    watch = Broken(stopping.machine, daemon("slurmd", "n1"), lambda: again.append("n1"), True)
    ended = stopping.apply(hosts=watch)
    assert ended.exit_code == 0, ended.why
    assert again == []
    stopping.settled(target)
