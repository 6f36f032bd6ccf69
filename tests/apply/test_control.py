"""What slurmctld shows of nodes, as real ones showed it, and whose drain is whose."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from slurmwright.apply.control import Control, Node, drained_by, mark
from slurmwright.apply.hosts import UNREACHED
from slurmwright.core.run import Result

RECORDED = Path(__file__).parents[1] / "data" / "rehearsal"


class Answers:
    """Hosts that say the same to every command; `away` are not reached."""

    def __init__(self, out: str, away: Sequence[str] = ()) -> None:
        self.out, self.away = out, away
        self.asked: list[str] = []

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        self.asked.append(host)
        return Result(
            tuple(argv), UNREACHED if host in self.away else 0, "" if host in self.away else self.out, ""
        )

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        raise AssertionError("nothing is put here")


@pytest.mark.parametrize(("series", "away"), [("22.05", ["gpu003"]), ("24.11", []), ("26.05", [])])
def test_a_node_is_away_that_slurmctld_does_not_hear_and_no_other(series: str, away: list[str]) -> None:
    text = (RECORDED / series / "show_node.txt").read_text(encoding="utf-8")
    nodes = Control(Answers(text), ["ctl1"]).nodes()
    assert len(nodes) == text.count("NodeName=") > 0
    assert [name for name, node in nodes.items() if node.away] == away


@pytest.mark.parametrize("series", ["22.05", "24.11", "26.05"])
def test_a_node_with_too_few_gpus_keeps_slurms_reason_and_is_not_ours(series: str) -> None:
    text = (RECORDED / series / "too_few_gpus_node.txt").read_text(encoding="utf-8")
    nodes = Control(Answers(text), ["ctl1"]).nodes().values()
    refused = [node for node in nodes if node.reason]
    assert refused
    assert all(node.away and node.reason.startswith("gres/gpu count") for node in refused)
    assert not any("[" in node.reason for node in refused)
    assert drained_by(refused, "abc") == ()


@pytest.mark.parametrize(
    ("state", "reason", "ours"),
    [
        ("IDLE+DRAIN", "slurmwright apply abc", True),
        ("IDLE+DRAIN", "slurmwright apply def", False),
        ("IDLE+DRAIN", "broken fan", False),
        ("IDLE", "slurmwright apply abc", False),
    ],
)
def test_only_a_drained_node_with_the_mark_of_this_run_is_ours(state: str, reason: str, ours: bool) -> None:
    line = f"NodeName=n1 State={state} OS=Linux 6.1 \n   Reason={reason} [root@2026-01-01T00:00:00]"
    (node,) = Control(Answers(line.replace("\n  ", "")), ["ctl1"]).nodes().values()
    assert node == Node("n1", frozenset(state.split("+")), reason)
    assert drained_by([node], "abc") == (("n1",) if ours else ())
    assert mark("abc") == "slurmwright apply abc"


def test_the_controller_that_stands_by_is_asked_where_the_first_is_not_reached() -> None:
    answers = Answers("Slurmctld(primary) at ctl1 is DOWN\nSlurmctld(backup) at ctl2 is UP\n", ["ctl1"])
    control = Control(answers, ["ctl1", "ctl2"])
    assert control.answers()
    assert control.ups() == (False, True)
    assert answers.asked[:2] == ["ctl1", "ctl2"]


def test_a_cluster_whose_controllers_are_all_away_does_not_answer() -> None:
    assert not Control(Answers("is UP at", ["ctl1"]), ["ctl1"]).answers()
