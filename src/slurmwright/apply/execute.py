"""A plan and its journal to a changed cluster: step after step, from where the journal says.

The journal is written before a step begins and after it has ended, so that whoever is killed between finds
his place; a step that fails ends the run, and the rest is told as not done.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from slurmwright.apply import placing
from slurmwright.apply.actions import ACTIONS
from slurmwright.apply.control import drained_by
from slurmwright.apply.held import files_of, pushed
from slurmwright.apply.hosts import on_each
from slurmwright.apply.journal import DONE, WAITING, Journal, new_journal
from slurmwright.apply.tools import StopError, Work
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import fold
from slurmwright.plan import Plan, Step, compare


@dataclass(frozen=True)
class Ended:
    """How a run ended: steps by what became of them, and the reasons of the one that failed."""

    done: tuple[Step, ...]
    not_done: tuple[Step, ...]
    why: tuple[str, ...]
    hosts_failed: tuple[str, ...]
    rollback: bool

    @property
    def exit_code(self) -> int:
        return 3 if self.not_done else 0


def carry_out(work: Work) -> Ended:
    """Do what the journal does not call done."""
    work.new = files_of(work.plan.new)
    if not work.journal.rollback and all(state == WAITING for state in work.journal.steps):
        away = tuple(name for name, node in work.control.nodes().items() if node.away)
        work.journal = replace(work.journal, away=away)
    why: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    for at, step in enumerate(work.plan.steps):
        if work.journal.steps[at] == DONE:
            continue
        try:
            work.note(work.journal.begin(at))
            work.say(f"{at + 1}/{len(work.plan.steps)} {step.action} {step.hosts or step.text}")
            ACTIONS[step.action](work, step)
            work.note(work.journal.end(at))
        except StopError as error:
            why, failed = error.lines, error.hosts
        except SlurmwrightError as error:
            why = (str(error),)
        except KeyboardInterrupt:
            why = ("interrupted",)
        if why:
            break
    return _ended(work, why, failed)


def _ended(work: Work, why: tuple[str, ...], failed: tuple[str, ...]) -> Ended:
    pairs = tuple(zip(work.plan.steps, work.journal.steps, strict=True))
    done = tuple(step for step, state in pairs if state == DONE)
    left = tuple(step for step, state in pairs if state != DONE)
    if not left:
        _give_back(work)
    return Ended(done, left, why, failed, work.journal.rollback)


def _give_back(work: Work) -> None:
    """Nodes with our mark that the plan's last step does not name, and partitions that were drained: those a
    rollback finds as its predecessor left them."""
    if not (work.journal.rollback or work.journal.partitions):
        return
    seen = work.control.nodes()
    ours = drained_by(tuple(seen.values()), work.journal.name) if work.journal.rollback else ()
    if ours:
        work.control.set_nodes(ours, "State=RESUME")
        work.say(f"resumed {fold(ours)}")
    states = work.control.partition_states()
    for name, state in work.journal.partitions.items():
        if states.get(name) == "DRAIN" != state:
            work.control.set_partition(name, state)


def way_back(plan: Plan, journal: Journal) -> tuple[Plan, Journal]:
    """The plan that returns to the former bundle. Nothing to do but to give back where no file was put in
    place and no daemon was touched."""
    back = compare(plan.new, plan.old)
    touched = any(
        state != WAITING and step.action not in ("drain", "stage", "confirm", "on-host")
        for step, state in zip(plan.steps, journal.steps, strict=True)
    )
    fresh = new_journal(back, rollback=True, name=journal.name)
    if not touched:
        fresh = replace(fresh, steps=(DONE,) * len(fresh.steps))
    return back, replace(fresh, partitions=journal.partitions, away=journal.away)


def clear_staged(work: Work) -> None:
    """Take away what waits beside the files of every host that the plan pushes to."""
    paths = pushed(work.plan)
    on_each(paths, lambda host: work.hosts.run(host, placing.forget(paths[host]).argv))
