"""What a person reads of a rehearsal: what was not checked is not shown as passed."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from slurmwright.rehearse.values import NodeCount, Phase, Rehearsal, Verdict
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


def test_phases_and_the_lines_of_kept_guests_are_told() -> None:
    document = Rehearsal(
        "machines",
        "24.11.5",
        NodeCount(1, 1, 1),
        (),
        (),
        (),
        "ssh -p 2201 root@127.0.0.1    # ctl1\nkill 4711    # ends all",
        (Phase("boot", 61.2), Phase("apply", 240.7)),
    ).as_json()
    stream = io.StringIO()
    Console(file=stream, width=120).print(draw_rehearsal(document))
    lines = [line.rstrip() for line in stream.getvalue().splitlines()]
    assert "Took: boot 61 s, apply 241 s." in lines
    assert lines[-2:] == ["ssh -p 2201 root@127.0.0.1    # ctl1", "kill 4711    # ends all"]
