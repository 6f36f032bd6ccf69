"""What carrying out a plan needs from its surroundings, and how a step says that it cannot go on."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from slurmwright.apply.control import Control
from slurmwright.apply.daemons import Daemons
from slurmwright.apply.held import Files
from slurmwright.apply.hosts import Hosts
from slurmwright.apply.journal import Journal
from slurmwright.core.hosts import fold
from slurmwright.plan import Plan
from slurmwright.plan.sides import side_of


class StopError(Exception):
    """Why a step does not go on: one line for each reason; `hosts` are those that failed."""

    def __init__(self, *lines: str, hosts: Collection[str] = ()) -> None:
        super().__init__("; ".join(lines))
        self.lines, self.hosts = lines, tuple(hosts)


@dataclass(frozen=True)
class Limits:
    """Patience. `drain_s` None waits for jobs as long as they run; `max_down` is how many slurmd may be down
    at a time."""

    drain_s: float | None = None
    answer_s: float = 180
    poll_s: float = 2
    max_down: int = 32


@dataclass
class Work:
    """A plan being carried out; `save` keeps the journal, `waiting` is told which jobs a
    drain waits for, `by_hand` says that a person did what steps ask of one."""

    plan: Plan
    journal: Journal
    hosts: Hosts
    daemons: Daemons
    save: Callable[[Journal], None]
    say: Callable[[str], None] = lambda _: None
    waiting: Callable[[tuple[str, ...]], None] = lambda _: None
    limits: Limits = Limits()
    by_hand: bool = False
    new: Files = field(default_factory=dict)

    @property
    def control(self) -> Control:
        return Control(self.hosts, tuple(dict.fromkeys(controllers(self.plan))))

    def note(self, journal: Journal) -> None:
        """Keep what was reached before anything else is done."""
        self.journal = journal
        self.save(journal)


def controllers(plan: Plan) -> tuple[str, ...]:
    """The hosts of slurmctld on either side, those of the new one first."""
    return (*side_of(plan.new).controllers, *side_of(plan.old).controllers)


def until(done: Callable[[], bool], limit_s: float | None, poll_s: float) -> bool:
    """Ask again and again; False where the limit passed first."""
    end = None if limit_s is None else time.monotonic() + limit_s
    while not done():
        if end is not None and time.monotonic() >= end:
            return False
        time.sleep(poll_s)
    return True


def refuse(failed: Mapping[str, str], what: str) -> None:
    """Raise StopError with hosts of one reason together; nothing where none failed."""
    reasons: dict[str, list[str]] = {}
    for host, why in failed.items():
        reasons.setdefault(why, []).append(host)
    if failed:
        raise StopError(*(f"{fold(them)}: {what}: {why}" for why, them in reasons.items()), hosts=failed)
