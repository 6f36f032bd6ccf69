"""What was begun and finished is on disk, and the next run finds it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from slurmwright.apply.journal import BEGUN, DONE, WAITING, Book, new_journal
from slurmwright.apply.planned import next_of
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.plan import Plan, compare, digest

SLURM = (
    "ClusterName=lab\nSlurmctldHost=ctl1\nSlurmctldParameters=enable_configless\n"
    "NodeName=n[1-3] CPUs=8 RealMemory=1000\nPartitionName=all Nodes=ALL\n"
)


def lab(text: str = SLURM) -> Bundle:
    return Bundle(
        "lab",
        "24.11",
        (BundleFile("/etc/slurm/slurm.conf", "slurm.conf", "ctl1", "root", "root", "0644", text),),
    )


def plan_of(memory: str = "900") -> Plan:
    return compare(lab(), lab(SLURM.replace("1000", memory)))


def test_the_journal_is_read_as_it_was_written(tmp_path: Path) -> None:
    book, plan = Book(tmp_path), plan_of()
    journal = new_journal(plan).begin(0).end(0).begin(1).host_done("ctl1")
    book.write(plan, journal)
    kept = book.read()
    assert kept is not None
    assert kept[1] == journal
    assert kept[0].steps == plan.steps


def test_a_step_that_was_begun_keeps_the_hosts_it_finished_with_when_it_begins_again() -> None:
    journal = new_journal(plan_of()).begin(0).host_done("n1")
    assert journal.begin(0).hosts == ("n1",)
    assert journal.end(0).begin(1).hosts == ()
    assert journal.steps[:2] == (BEGUN, WAITING)


def test_an_unfinished_plan_goes_on_without_being_named(tmp_path: Path) -> None:
    book, plan = Book(tmp_path), plan_of()
    book.write(plan, new_journal(plan).begin(0).end(0))
    following = next_of(book, None, rollback=False)
    assert following is not None
    assert not following.begins
    assert following.journal.steps[0] == DONE
    assert "1 of" in following.word


def test_another_plan_does_not_cross_an_unfinished_one(tmp_path: Path) -> None:
    book, plan = Book(tmp_path), plan_of()
    book.write(plan, new_journal(plan).begin(0))
    with pytest.raises(SlurmwrightError, match=r"unfinished, 0 of .*--rollback"):
        next_of(book, plan_of("800"), rollback=False)


def test_a_plan_follows_a_finished_one(tmp_path: Path) -> None:
    book, plan = Book(tmp_path), plan_of()
    journal = new_journal(plan)
    for at in range(len(plan.steps)):
        journal = journal.begin(at).end(at)
    book.write(plan, journal)
    following = next_of(book, plan_of("800"), rollback=False)
    assert following is not None
    assert following.begins


def test_a_rollback_before_anything_was_put_in_place_carries_out_no_step(tmp_path: Path) -> None:
    book, plan = Book(tmp_path), plan_of()
    book.write(plan, new_journal(plan).begin(0))
    assert plan.steps[0].action in ("drain", "stage")
    following = next_of(book, None, rollback=True)
    assert following is not None
    assert following.journal.finished
    assert following.journal.rollback


def test_a_rollback_after_files_were_put_in_place_is_the_plan_the_other_way_round(tmp_path: Path) -> None:
    book, plan = Book(tmp_path), plan_of()
    journal = new_journal(plan)
    at = [step.action for step in plan.steps].index("activate")
    for number in range(at):
        journal = journal.begin(number).end(number)
    book.write(plan, journal.begin(at))
    following = next_of(book, None, rollback=True)
    assert following is not None
    assert digest(following.plan.old) == digest(plan.new)
    assert digest(following.plan.new) == digest(plan.old)
    assert not following.journal.finished
    assert following.journal.name == journal.name


def test_nothing_to_return_to_is_said(tmp_path: Path) -> None:
    with pytest.raises(SlurmwrightError, match="nothing to return to"):
        next_of(Book(tmp_path), None, rollback=True)


@pytest.mark.parametrize("text", ["{", "[]", '{"format": "slurmwright/journal/9"}', "{}"])
def test_what_is_no_journal_is_named_and_not_taken_for_nothing(tmp_path: Path, text: str) -> None:
    book = Book(tmp_path)
    book.path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"journal\.json"):
        book.read()


def test_steps_of_another_version_are_refused(tmp_path: Path) -> None:
    book, plan = Book(tmp_path), plan_of()
    book.write(plan, new_journal(plan))
    document = json.loads(book.path.read_text(encoding="utf-8"))
    document["steps"].pop()
    book.path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match="another version"):
        book.read()
