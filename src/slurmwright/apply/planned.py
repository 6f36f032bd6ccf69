"""A plan, or what the journal says of one, to what is carried out next: begin, go on, or go back."""

from __future__ import annotations

from dataclasses import dataclass

from slurmwright.apply.execute import Ended, carry_out, clear_staged, way_back
from slurmwright.apply.held import Held, look, pushed
from slurmwright.apply.journal import DONE, Book, Journal, new_journal
from slurmwright.apply.tools import Work
from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import fold
from slurmwright.plan import Plan, digest
from slurmwright.plan.sides import side_of

GO_ON = "finish it with `slurmwright apply -i DIR`, or return with `slurmwright apply -i DIR --rollback`"


@dataclass(frozen=True)
class Next:
    """What is carried out. `begins`: nothing was done for it yet; `word` tells what the journal said."""

    plan: Plan
    journal: Journal
    begins: bool
    word: str = ""


def next_of(book: Book, plan: Plan | None, rollback: bool) -> Next | None:
    """None where there is neither a plan nor anything begun; raises SlurmwrightError for a plan that would
    cross an unfinished one."""
    kept = book.read()
    if rollback:
        return _back(kept)
    if kept is not None and not kept[1].finished:
        return _on(plan, *kept)
    return Next(plan, new_journal(plan), True) if plan is not None else None


def _back(kept: tuple[Plan, Journal] | None) -> Next:
    if kept is None:
        raise SlurmwrightError("no plan was carried out from here; there is nothing to return to")
    plan, journal = kept
    if journal.rollback and journal.finished:
        raise SlurmwrightError("the former bundle is in place already; there is nothing to return to")
    if journal.rollback:
        return Next(plan, journal, False, f"goes on with the rollback, {_place(journal)}")
    back, fresh = way_back(plan, journal)
    word = f"returns to the former bundle; of {plan.summary!r} {_place(journal)}"
    return Next(back, fresh, False, word)


def _on(plan: Plan | None, kept: Plan, journal: Journal) -> Next:
    what = "rollback" if journal.rollback else "apply"
    if plan is not None and (digest(plan.old), digest(plan.new)) != (digest(kept.old), digest(kept.new)):
        raise SlurmwrightError(f"another {what} is unfinished, {_place(journal)} ({kept.summary}); {GO_ON}")
    return Next(kept, journal, False, f"goes on with an unfinished {what}, {_place(journal)}")


def _place(journal: Journal) -> str:
    return f"{journal.steps.count(DONE)} of {len(journal.steps)} steps are done"


def refuse_unfit(plan: Plan, held: Held, deaf: frozenset[str]) -> None:
    """Raise SlurmwrightError where hosts hold other files than the plan was made for, or one that it needs
    does not answer. `deaf` are nodes that slurmctld does not hear: a host of theirs that gets no file, or
    that leaves, may be away."""
    if held.stale:
        lines = "\n  ".join(held.stale[:20])
        raise SlurmwrightError(
            "the plan is stale: hosts hold neither its former nor its new files; nothing was changed:\n"
            f"  {lines}\nmake it again: slurmwright plan -i DIR --live -o PLAN.json"
        )
    new, old = side_of(plan.new), side_of(plan.old)
    here, files = set(new.nodes.values()), pushed(plan)
    leaving = set(old.nodes.values()) - here - set(new.controllers)
    free = {host for name, host in new.nodes.items() if name in deaf and host not in files} | leaving
    missing = {host: why for host, why in held.away.items() if host not in free}
    if missing:
        first = next(iter(missing.values()))
        raise SlurmwrightError(f"{fold(missing)} cannot be used ({first}); nothing was changed")


def run(work: Work, begins: bool) -> Ended:
    """Look first where nothing was done, then carry out."""
    if begins:
        deaf = frozenset(name for name, node in work.control.nodes().items() if node.away)
        refuse_unfit(work.plan, look(work.plan, work.hosts), deaf)
    else:
        _refuse_stale(work)
    # What waits there is of the plan that is given up; once the rollback has begun, it is its own.
    if work.journal.rollback and len(set(work.journal.steps)) == 1:
        clear_staged(work)
    work.save(work.journal)
    return carry_out(work)


def _refuse_stale(work: Work) -> None:
    """Between two runs somebody may have edited a file; a host that is away is met at its step."""
    stale = look(work.plan, work.hosts).stale
    if stale:
        lines = "\n  ".join(stale[:20])
        raise SlurmwrightError(
            f"hosts hold neither the former nor the new files; put one of them back, then run this again:\n"
            f"  {lines}"
        )
