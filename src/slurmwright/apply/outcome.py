"""The events of one run to what became of each host, and from that the exit code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from slurmwright.apply.events import Event
from slurmwright.apply.steps import Step

#: Worst last. `stopped`: the run ended before this host had everything; `waiting`: nothing was done on it.
STATES = ("ok", "changed", "waiting", "stopped", "failed", "unreachable")


@dataclass(frozen=True)
class HostResult:
    """One host: `changed` counts tasks, `task` and `message` say where and why it ended early."""

    host: str
    state: str = "waiting"
    changed: int = 0
    task: str = ""
    message: str = ""

    @property
    def done(self) -> bool:
        return self.state in ("ok", "changed")

    def as_json(self) -> dict[str, object]:
        return {
            "host": self.host,
            "state": self.state,
            "changed": self.changed,
            "task": self.task,
            "message": self.message,
        }


@dataclass(frozen=True)
class Outcome:
    """What a run left behind. `complete`: it reached the end of the playbook, whatever became of hosts."""

    hosts: tuple[HostResult, ...]
    complete: bool
    interrupted: bool
    code: int
    check: bool
    diffs: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def changed(self) -> int:
        return sum(host.changed for host in self.hosts)

    @property
    def done(self) -> tuple[str, ...]:
        return tuple(host.host for host in self.hosts if host.done)

    @property
    def not_done(self) -> tuple[str, ...]:
        return tuple(host.host for host in self.hosts if not host.done)

    @property
    def exit_code(self) -> int:
        """0 all done; 1 a check found something to do; 2 nothing could be done and nothing was changed; 3 a
        change is unfinished on some host."""
        all_done = self.complete and self.code == 0 and not self.not_done
        if self.check:
            reached = any(host.state not in ("waiting", "unreachable") for host in self.hosts)
            return int(bool(self.changed)) if all_done else 1 if reached and not self.interrupted else 2
        if all_done:
            return 0
        return 3 if self.changed or self.done or self.interrupted else 2


def outcome(
    hosts: Iterable[str],
    events: Iterable[Event],
    *,
    code: int,
    interrupted: bool = False,
    check: bool = False,
    notes: Iterable[str] = (),
    planned: Sequence[Step] = (),
) -> Outcome:
    """`hosts` are those that the run is for, `planned` its plays; `code` is Ansible's exit status."""
    seen = tuple(events)
    ended = any(event.kind == "stats" for event in seen)
    complete = ended and not interrupted and not any(event.kind == "stopped" for event in seen)
    found = {host: HostResult(host) for host in hosts}
    task = Event("task")
    for event in seen:
        if event.kind == "task":
            task = event
        elif event.kind in ("start", "result"):
            found[event.host] = _after(found.get(event.host, HostResult(event.host)), event, task.task)
        elif event.kind == "stats":
            found = {host: _counted(one, event.counts.get(host)) for host, one in found.items()}
    open_hosts = frozenset[str]() if complete else _open(seen, planned, found)
    results = tuple(_ended(one, one.host in open_hosts) for one in found.values())
    diffs = tuple((event.host, event.text) for event in seen if event.kind == "diff")
    return Outcome(results, complete, interrupted, code, check, diffs, tuple(notes))


def _after(host: HostResult, event: Event, task: str) -> HostResult:
    if event.kind == "start":
        return replace(host, state="ok") if host.state == "waiting" else host
    if event.status == "changed":
        state = host.state if host.state in ("failed", "unreachable") else "changed"
        return replace(host, state=state, changed=host.changed + 1)
    if event.status in ("failed", "unreachable"):
        return replace(host, state=event.status, task=task, message=event.text)
    return replace(host, state="ok") if host.state == "waiting" else host


def _counted(host: HostResult, counts: Mapping[str, int] | None) -> HostResult:
    """Ansible's own count at the end knows what a rescue has mended."""
    if counts is None or host.state not in ("failed", "unreachable"):
        return host
    if counts.get("failures") or counts.get("unreachable"):
        return host
    return replace(host, state="changed" if host.changed else "ok", task="", message="")


def _open(seen: Iterable[Event], planned: Sequence[Step], known: Iterable[str]) -> frozenset[str]:
    """Hosts of a run that ended early that are in its last play, or in one that did not begin."""
    last = [event.name for event in seen if event.kind == "play"][-1:]
    at = next((at for at, step in enumerate(planned) if [step.name] == last), None)
    if at is None:
        return frozenset(known)
    return frozenset(host for step in planned[at:] for host in step.hosts)


def _ended(host: HostResult, is_open: bool) -> HostResult:
    """A host that had no fault of its own is not done where the run ended early."""
    if not is_open or host.state in ("failed", "unreachable", "waiting"):
        return host
    return replace(host, state="stopped")


def alike(outcome: Outcome) -> Iterator[tuple[tuple[str, ...], HostResult]]:
    """Hosts that fared alike, worst last: ten thousand rows say less than five."""
    groups: dict[tuple[str, int, str, str], list[HostResult]] = {}
    for host in outcome.hosts:
        groups.setdefault((host.state, host.changed, host.task, host.message), []).append(host)
    for key in sorted(groups, key=lambda key: (STATES.index(key[0]), key)):
        yield tuple(one.host for one in groups[key]), groups[key][0]


def diffs_alike(outcome: Outcome) -> Mapping[str, tuple[str, ...]]:
    """Each difference once, with the hosts that have it."""
    found: dict[str, list[str]] = {}
    for host, text in outcome.diffs:
        found.setdefault(text, []).append(host)
    return {text: tuple(dict.fromkeys(hosts)) for text, hosts in found.items()}
