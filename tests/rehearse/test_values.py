"""A rehearsal passes when something was checked and nothing failed; what was not checked is not passed."""

from __future__ import annotations

import pytest

from slurmwright.rehearse.values import NodeCount, Rehearsal, Verdict


def rehearsal(*passed: bool | None) -> Rehearsal:
    verdicts = tuple(Verdict(f"s{at}", one, ("because",)) for at, one in enumerate(passed))
    return Rehearsal("processes", "24.11.5", NodeCount(1, 1, 1), verdicts, (), ())


@pytest.mark.parametrize(
    ("verdicts", "passed"),
    [
        ((True, True), True),
        ((True, None), True),
        ((True, False), False),
        ((None, False), False),
        ((None, None), False),
        ((), False),
    ],
)
def test_a_rehearsal_passes_when_one_passed_and_none_failed(
    verdicts: tuple[bool | None, ...], passed: bool
) -> None:
    assert rehearsal(*verdicts).passed is passed


def test_what_was_not_checked_is_null_with_its_reason() -> None:
    verdict = Verdict.not_checked("accounting", "mariadbd is not in the root", "no slurmdbd")
    assert verdict.as_json() == {
        "name": "accounting",
        "passed": None,
        "skipped": "mariadbd is not in the root; no slurmdbd",
        "evidence": ["mariadbd is not in the root", "no slurmdbd"],
    }


@pytest.mark.parametrize("passed", [True, False])
def test_what_was_checked_has_no_reason_for_leaving_it_out(passed: bool) -> None:
    assert Verdict("accounting", passed, ("a",)).as_json() == {
        "name": "accounting",
        "passed": passed,
        "evidence": ["a"],
    }
