"""A request to its outcome: runs the playbook, hands on every event as it comes, and counts at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from slurmwright.apply.command import Request, environment, hosts_argv, playbook_argv
from slurmwright.apply.events import Event, parse_event
from slurmwright.apply.outcome import Outcome, outcome
from slurmwright.apply.steps import Step
from slurmwright.core.errors import InputError
from slurmwright.core.run import Follower, Runner

Watch = Callable[[Event], None]
Note = Callable[[str], None]


def target_hosts(request: Request, runner: Runner, environ: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts that the run is for, in inventory order; raises InputError where there are none."""
    env = environment(request, environ, Path.cwd())
    done = runner.run(hosts_argv(request), env=env, limit_s=600)
    lines = [line.strip() for line in done.out.splitlines() if line.startswith("    ")]
    if "no hosts to target" in done.err or (done.ok and not lines):
        raise InputError.of(f"--limit {request.limit} names no host or group of this cluster")
    if not done.ok:
        raise InputError.of(f"Ansible cannot list the hosts: {done.err.strip() or done.last_line}")
    return tuple(lines)


def apply(
    request: Request,
    hosts: tuple[str, ...],
    runner: Follower,
    environ: Mapping[str, str],
    watch: Watch = lambda _: None,
    note: Note = lambda _: None,
    planned: tuple[Step, ...] = (),
) -> Outcome:
    """Run the playbook on `hosts`. Lines of Ansible that are no events go to `note`; `planned` are the plays
    as `steps` gives them, to tell who is done when the run ends early."""
    events: list[Event] = []
    notes: list[str] = []
    started: set[str] = set()

    def take(line: str) -> None:
        event = parse_event(line)
        if event is not None:
            if _counts(event, started):
                events.append(event)
            started.add(event.host)
            watch(event)
        elif line.strip():
            notes.append(line)
            note(line)

    env = environment(request, environ, Path.cwd())
    interrupted, code = False, 1
    try:
        code = runner.follow(playbook_argv(request), take, env=env)
    except KeyboardInterrupt:
        interrupted = True
    return outcome(
        hosts,
        events,
        code=code,
        interrupted=interrupted,
        check=request.looks,
        notes=notes,
        planned=planned,
    )


def _counts(event: Event, started: set[str]) -> bool:
    """Is it needed for the outcome? Ten thousand hosts have millions of results that change nothing."""
    if event.kind == "start":
        return event.host not in started
    return event.kind != "result" or event.status in ("changed", "failed", "unreachable")
