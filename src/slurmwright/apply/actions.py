"""Each kind of step to what it does on hosts. Every one can be carried out again after it was broken off."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from slurmwright.apply import passwords, placing
from slurmwright.apply.confirm import check
from slurmwright.apply.control import drained_by, mark, names
from slurmwright.apply.hosts import UNREACHED, on_each
from slurmwright.apply.tools import StopError, Work, refuse, until
from slurmwright.core.bundle import BundleFile
from slurmwright.core.errors import InputError
from slurmwright.core.hosts import fold
from slurmwright.core.run import Result
from slurmwright.plan import Step
from slurmwright.plan.sides import side_of


def drain(work: Work, step: Step) -> None:
    """Nodes, or the partitions of the plan where the step names none; then wait for their jobs."""
    if not work.control.answers():
        if work.journal.rollback:
            work.say("slurmctld does not answer: nothing is drained, its jobs began under the former files")
            return
        raise StopError("slurmctld does not answer, so that nothing can be drained")
    if step.hosts:
        _drain_nodes(work, names(step.hosts))
    else:
        _drain_partition(work, step.text.split("partition ", 1)[1].split(" ", 1)[0])


def _drain_nodes(work: Work, wanted: Collection[str]) -> None:
    known = work.control.nodes()
    mine = [name for name in wanted if name in known]
    ours = [name for name in mine if "DRAIN" not in known[name].state]
    if ours:
        _ask(work.control.set_nodes(ours, "State=DRAIN", f"Reason={mark(work.journal.name)}"), "drain")
    if mine:
        _wait(work, f"nodes {fold(mine)}", lambda: work.control.jobs_on(mine))


def _drain_partition(work: Work, name: str) -> None:
    states = work.control.partition_states()
    if name not in states:
        return
    if name not in work.journal.partitions:
        was = {**work.journal.partitions, name: states[name]}
        work.note(replace(work.journal, partitions=was))
    _ask(work.control.set_partition(name, "DRAIN"), f"drain partition {name}")
    _wait(work, f"partition {name}", lambda: work.control.jobs_on(partition=name))


def _wait(work: Work, what: str, jobs: Callable[[], tuple[str, ...] | None]) -> None:
    told: tuple[str, ...] | None = ()

    def empty() -> bool:
        nonlocal told
        now = jobs()
        if now and now != told:
            work.say(f"{what}: waiting for {len(now)} job{'s' if len(now) > 1 else ''}: {','.join(now[:8])}")
            work.waiting(now)
        told = now
        return now == ()

    if not until(empty, work.limits.drain_s, work.limits.poll_s):
        left = ",".join(told[:8]) if told else "slurmctld did not say which"
        raise StopError(f"jobs still run on {what}: {left}; no new ones start there, run this again later")


def stage(work: Work, step: Step) -> None:
    def one(host: str) -> str:
        for path in step.files:
            file = work.new.get((host, path))
            if file is None:
                continue
            try:
                text = full_text(work, host, file)
            except InputError as error:
                return str(error)
            words = {"owner": file.owner, "group": file.group, "mode": file.mode}
            done = work.hosts.put(host, placing.staged(path), text, **words)
            if not done.ok:
                return f"{path}: {_why(done)}"
        return ""

    _each(work, step, one, "cannot be given its files")


def full_text(work: Work, host: str, file: BundleFile) -> str:
    """The text that the host shall have: its own passwords in the places of the plan's masks."""
    if not passwords.has_password(file.text):
        return file.text
    held = ""
    for path in (file.path, placing.former(file.path)):
        held = held or work.hosts.run(host, ["cat", path]).out
    return passwords.filled(file.text, held, file.path)


def confirm(work: Work, step: Step) -> None:
    """A file that is in place already, from a run before, counts as confirmed."""
    given: dict[str, list[str]] = {}
    for one in work.plan.steps:
        for host in names(one.hosts) if one.action == "stage" else ():
            given.setdefault(host, []).extend(path for path in one.files if (host, path) in work.new)

    def ask(host: str) -> str:
        paths = given.get(host, [])
        done = work.hosts.run(host, placing.sums([*map(placing.staged, paths), *paths]).argv)
        if not done.ok:
            return _why(done)
        sums = placing.read_sums(done.out)
        for path in paths:
            wanted = placing.sha256(full_text(work, host, work.new[host, path]))
            waits = sums.get(placing.staged(path))
            if waits != wanted and not (waits == "none" and sums.get(path) == wanted):
                return f"{path} is not what it was given; is its disk full?"
        return ""

    _each(work, step, ask, "does not confirm its files")


def activate(work: Work, step: Step) -> None:
    def one(host: str) -> str:
        come = [path for path in step.files if (host, path) in work.new]
        gone = [path for path in step.files if path not in come]
        for script in (placing.place(come), placing.take(gone), placing.forget(gone)):
            done = work.hosts.run(host, script.argv) if script.words else None
            if done is not None and not done.ok:
                return _why(done)
        if lost := _not_in_place(work, host, come):
            return f"{lost} is not what was staged; go back with --rollback"
        made = [path for path in come if posixpath.dirname(path) == "/etc/tmpfiles.d"]
        if made:
            work.hosts.run(host, ["systemd-tmpfiles", "--create", *made])
        return ""

    _each(work, step, one, "new files are not in place")


def _not_in_place(work: Work, host: str, paths: Sequence[str]) -> str:
    """The first of the paths that is another than planned; its passwords are not compared."""
    sums = placing.read_sums(work.hosts.run(host, placing.sums(paths).argv).out) if paths else {}
    for path in paths:
        text = work.new[host, path].text
        if not passwords.has_password(text) and sums.get(path) != placing.sha256(text):
            return path
    return ""


def command(*argv: str) -> Callable[[Work, Step], None]:
    """A step that is one command on each host."""

    def act(work: Work, step: Step) -> None:
        _each(work, step, lambda host: _why(work.hosts.run(host, argv)), " ".join(argv))

    return act


def stop(work: Work, step: Step) -> None:
    gone = set(names(step.hosts)) - set(side_of(work.plan.new).nodes.values())

    def one(host: str) -> str:
        done = work.daemons.stop(host, step.daemon)
        if done.code == UNREACHED and host in gone:
            work.say(
                f"{host} is not reached, and is no part of the cluster any more: its slurmd was not stopped"
            )
            return ""
        return _why(done)

    _each(work, step, one, f"{step.daemon} does not stop", in_order=step.daemon == "slurmctld")


def start(work: Work, step: Step) -> None:
    one = _does(work, work.daemons.start, step.daemon)
    _each(work, step, one, f"{step.daemon} does not start", in_order=step.daemon == "slurmctld")
    if step.daemon == "slurmctld":
        _controller_answers(work, "its start")


def restart(work: Work, step: Step) -> None:
    one = _does(work, work.daemons.restart, step.daemon)
    if step.daemon != "slurmd":
        _each(work, step, one, f"{step.daemon} does not restart", in_order=step.daemon == "slurmctld")
        if step.daemon == "slurmctld":
            _controller_answers(work, "its restart")
        return
    node_of = {host: name for name, host in side_of(work.plan.new).nodes.items()}
    waves = [host for host in names(step.hosts) if host not in work.journal.hosts]
    for at in range(0, len(waves), work.limits.max_down):
        wave = waves[at : at + work.limits.max_down]
        failed = {host: why for host, why in on_each(wave, one).items() if why}
        back = [node_of[host] for host in wave if host in node_of and host not in failed]
        failed |= _not_back(work, back, side_of(work.plan.new).nodes)
        work.note(work.journal.host_done(*(host for host in wave if host not in failed)))
        work.say(f"slurmd restarted on {len(work.journal.hosts)} of {len(names(step.hosts))}")
        refuse(failed, "slurmd does not come back")


def _not_back(work: Work, nodes: Sequence[str], host_of: Mapping[str, str]) -> dict[str, str]:
    """Who of a wave slurmctld does not hear; who was away before anything was done is not waited for."""
    wanted = [name for name in nodes if name not in work.journal.away]

    def silent() -> list[str]:
        seen = work.control.nodes()
        return [name for name in wanted if name not in seen or seen[name].away]

    until(lambda: not silent(), work.limits.answer_s if wanted else 0, work.limits.poll_s)
    return {host_of[name]: "slurmctld does not hear it" for name in silent()}


def reconfigure(work: Work, _: Step) -> None:
    """A slurmctld that is not there, after a power cut or a broken run, reads its files at its start."""
    if not work.control.answers():
        for host in side_of(work.plan.new).controllers:
            work.daemons.start(host, "slurmctld")
        _controller_answers(work, "its start")
    _ask(work.control.run("scontrol", "reconfigure"), "scontrol reconfigure")
    _controller_answers(work, "scontrol reconfigure")


def _controller_answers(work: Work, after: str) -> None:
    if not until(work.control.answers, work.limits.answer_s, min(1, work.limits.poll_s)):
        raise StopError(f"slurmctld does not answer after {after}; its log says why. To go back: --rollback")


def resume(work: Work, step: Step) -> None:
    """Only nodes that bear our mark; a partition that was drained and stays gets its state back."""
    seen = work.control.nodes()
    ours = drained_by([seen[name] for name in names(step.hosts) if name in seen], work.journal.name)
    if ours:
        _ask(work.control.set_nodes(ours, "State=RESUME"), f"resume {fold(ours)}")


def person(work: Work, step: Step) -> None:
    """What no program does here."""
    if not work.by_hand:
        where = f" on {step.hosts}" if step.hosts else ""
        raise StopError(f"a person does this{where}: {step.text}; then run this again with --done-by-hand")


def _does(work: Work, action: Callable[[str, str], Result], daemon: str) -> Callable[[str], str]:
    """A slurmd that slurmctld did not hear before, on a host that is not reached, reads its files when it
    starts: nothing is left to do for it."""
    node_of = {host: name for name, host in side_of(work.plan.new).nodes.items()}

    def one(host: str) -> str:
        done = action(host, daemon)
        if done.code == UNREACHED and daemon == "slurmd" and node_of.get(host) in work.journal.away:
            work.say(f"{host} is not reached, as before; it takes the change when it comes back")
            return ""
        return _why(done)

    return one


def _each(work: Work, step: Step, one: Callable[[str], str], what: str, in_order: bool = False) -> None:
    """`one` on every host that this step has not finished with; who failed is told together."""
    left = [host for host in names(step.hosts) if host not in work.journal.hosts]
    failed: dict[str, str] = {}
    if in_order:
        for host in left:
            failed |= {host: why} if (why := one(host)) else {}
    else:
        failed = {host: why for host, why in on_each(left, one).items() if why}
    if failed:
        work.note(work.journal.host_done(*(host for host in left if host not in failed)))
    refuse(failed, what)


def _ask(done: Result, what: str) -> None:
    if not done.ok:
        raise StopError(f"{what}: {done.last_line}")


def _why(done: Result) -> str:
    return "" if done.ok else f"not reached: {done.last_line}" if done.code == UNREACHED else done.last_line


ACTIONS: dict[str, Callable[[Work, Step], None]] = {
    "drain": drain,
    "on-host": person,
    "stage": stage,
    "confirm": confirm,
    "activate": activate,
    "reload-units": command("systemctl", "daemon-reload"),
    "stop": stop,
    "start": start,
    "restart": restart,
    "reconfigure": reconfigure,
    "reboot": person,
    "clients": command("systemctl", "try-restart", "sackd"),
    "check": check,
    "resume": resume,
}
