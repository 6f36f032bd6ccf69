"""What a person reads before and after a run."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

from slurmwright.apply.events import Event
from slurmwright.apply.inventory import Files
from slurmwright.apply.outcome import HostResult, Outcome
from slurmwright.apply.steps import Step
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.report.apply_progress import ApplyProgress
from slurmwright.report.apply_view import draw_outcome, draw_plan, outcome_json


def text(shown: RenderableType) -> str:
    out = io.StringIO()
    Console(file=out, width=200, color_system=None).print(shown)
    return out.getvalue()


def outcome(*hosts: HostResult, complete: bool = True, check: bool = False, code: int = 0) -> Outcome:
    return Outcome(hosts, complete, False, code, check)


def test_the_plan_names_plays_hosts_roles_and_only_the_files_of_these_hosts() -> None:
    bundle = Bundle(
        "pod1",
        "24.11",
        (
            BundleFile("/etc/slurm/slurm.conf", "etc/slurm/slurm.conf", "ctl1", "root", "root", "0644", ""),
            BundleFile("/etc/slurm/prolog.sh", "etc/slurm/prolog.sh", "gpu[1-9]", "root", "root", "0755", ""),
        ),
    )
    steps = (Step("Bring up the nodes", ("gpu1", "gpu2"), ("slurm_files", "slurm_node")),)
    shown = text(draw_plan(steps, Files("/pod1/rendered", bundle), ("gpu1", "gpu2"), check=False))
    assert "2 hosts, gpu[1-2]" in shown
    assert "slurm_files, slurm_node" in shown
    assert "/etc/slurm/prolog.sh" in shown
    assert "slurm.conf" not in shown
    assert "gpu[1-9]" not in shown


def test_a_finished_run_says_changed_0() -> None:
    shown = text(draw_outcome(outcome(HostResult("a", "ok"), HostResult("b", "ok"))))
    assert "changed=0, all 2 hosts are done" in shown
    assert "a,b" in shown or "a-b" in shown


def test_an_unfinished_run_lists_done_and_not_done() -> None:
    lost = HostResult("gpu2", "unreachable", 3, "slurm_node: Start slurmd", "no route to host")
    shown = text(draw_outcome(outcome(HostResult("gpu1", "changed", 5), lost, code=4)))
    assert "slurm_node: Start slurmd" in shown
    assert "no route to host" in shown
    assert "done: gpu1\n" in shown
    assert "not done: gpu2\n" in shown


def test_a_message_with_brackets_is_shown_as_it_is() -> None:
    failed = HostResult("a", "failed", 0, "x", "gpu[1-2] [bold]")
    assert "gpu[1-2] [bold]" in text(draw_outcome(outcome(failed, code=2)))


def test_the_document_has_the_lists_and_the_exit_code() -> None:
    found = outcome(HostResult("a", "changed", 2), HostResult("b", "failed", 0, "t", "m"), code=2)
    document = outcome_json(found, "pod1", "24.11", "site", (Step("x", ("a", "b"), ("base",)),))
    assert (document["done"], document["not_done"], document["exit_code"]) == (["a"], ["b"], 3)
    assert document["steps"] == [{"name": "x", "hosts": "a,b", "roles": ["base"]}]


def progress(*events: Event) -> str:
    out = io.StringIO()
    with ApplyProgress(Console(file=out, width=200, color_system=None)) as shown:
        for event in events:
            shown.watch(event)
    return out.getvalue()


def test_hosts_that_changed_in_one_task_are_one_line() -> None:
    lines = progress(
        Event("play", name="Bring up the nodes"),
        Event("task", name="Place the files", role="slurm_files"),
        Event("start", host="gpu1"),
        Event("result", host="gpu1", status="changed"),
        Event("result", host="gpu2", status="changed"),
        Event("result", host="gpu3", status="ok"),
        Event("task", name="Next"),
    ).splitlines()
    assert lines[0].endswith("Bring up the nodes")
    assert lines[1].split() == ["changed", "gpu[1-2]", "slurm_files:", "Place", "the", "files"]
    assert len(lines) == 2


def test_a_play_is_named_when_it_has_a_host() -> None:
    empty = (Event("play", name="Bring up the database daemon"), Event("task"), Event("no-hosts"))
    assert progress(*empty) == ""
    assert "Bring up the nodes" in progress(
        *empty, Event("play", name="Bring up the nodes"), Event("task"), Event("start", host="gpu1")
    )


def test_failures_with_different_reasons_are_told_apart() -> None:
    shown = progress(
        Event("task", name="Look"),
        Event("result", host="a", status="failed", text="no driver"),
        Event("result", host="b", status="failed", text="no GPU"),
    )
    assert shown.index("no driver") < shown.index("b  Look") < shown.index("no GPU")
