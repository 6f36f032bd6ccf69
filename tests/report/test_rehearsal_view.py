"""What a person reads of a rehearsal: what was not checked is not shown as passed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from slurmwright.rehearse.values import NodeCount, Rehearsal, Verdict
from slurmwright.report.rehearsal_view import draw_rehearsal


def shown(passed: bool | None) -> str:
    verdict = Verdict("placement", passed, ("no topology in cluster.yaml",))
    document = Rehearsal("processes", "24.11.5", NodeCount(1, 1, 1), (verdict,), (), ()).as_json()
    stream = io.StringIO()
    Console(file=stream, width=120).print(draw_rehearsal(document))
    return next(line for line in stream.getvalue().splitlines() if line.startswith("placement"))


@pytest.mark.parametrize(("passed", "word"), [(True, "passed"), (False, "FAILED"), (None, "not checked")])
def test_a_verdict_has_its_word_and_its_evidence(passed: bool | None, word: str) -> None:
    line = shown(passed)
    assert word in line
    assert "no topology in cluster.yaml" in line


def test_what_was_not_checked_does_not_read_as_passed() -> None:
    assert "passed" not in shown(None)
