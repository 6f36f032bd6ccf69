"""A correct cluster's logs hold known error lines only, each release its own; everything else is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from slurmwright.core.release import SERIES, Release
from slurmwright.rehearse.scenarios.logs_clean import judge, known_lines, unknown_errors

Capture = Callable[[str, str], str]
Recorded = Callable[[str], Any]
RELEASES = ("22.05", "24.11", "26.05")
all_releases = pytest.mark.parametrize("release", RELEASES)


@all_releases
@pytest.mark.parametrize("name", ["slurmctld.log", "slurmd.log"])
def test_the_logs_of_a_correct_cluster_hold_no_unknown_error(
    capture: Capture, release: str, name: str
) -> None:
    text = capture(release, name)
    assert "error: " in text
    assert unknown_errors(text, Release(release), name.removesuffix(".log")) == ()


@all_releases
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("unknown_key.txt", 2),
        ("not_a_setting.txt", 2),
        ("bad_value.txt", 3),
        ("unknown_gres_key.log", 5),
        ("no_device.log", 2),
        ("too_few_gpus.log", 4),
    ],
)
def test_errors_of_a_wrong_configuration_are_unknown(
    capture: Capture, release: str, name: str, count: int
) -> None:
    assert len(unknown_errors(capture(release, name), Release(release), "slurmd")) == count


def test_a_known_line_is_unknown_in_releases_that_should_not_log_it(capture: Capture) -> None:
    text = capture("22.05", "slurmd.log")
    assert unknown_errors(text, Release("22.05"), "slurmd") == ()
    assert any("pmix" in line for line in unknown_errors(text, Release("24.11"), "slurmd"))


def test_every_known_line_has_a_reason_and_a_span_of_releases() -> None:
    for row in known_lines():
        assert row.reason
        assert row.since in SERIES
        assert row.until in (*SERIES, "99.99")
        assert row.since <= row.until


@pytest.mark.parametrize(
    "line",
    [
        "error: slurm_persist_conn_open_without_init: failed to open persistent connection to host:db1:6819: "
        "Connection refused",
        "error: update cluster: pod1 at 10.0.0.1(6817): Connection refused",
    ],
)
def test_what_is_harmless_in_slurmdbds_log_is_a_fault_in_slurmctlds(line: str) -> None:
    assert unknown_errors(line, Release("24.11"), "slurmdbd") == ()
    assert unknown_errors(line, Release("24.11"), "slurmctld") == (line,)


@pytest.mark.parametrize(
    "why", ["Connection refused", "Unable to contact slurm controller (connect failure)", "Invalid argument"]
)
def test_a_slurmd_that_cannot_register_is_known_for_what_passes_alone(why: str) -> None:
    line = f"error: Unable to register: {why}"
    known = why != "Invalid argument"
    assert (unknown_errors(line, Release("24.11"), "slurmd") == ()) is known
    assert unknown_errors(line, Release("25.05"), "slurmd") == (line,)


def test_no_known_line_hides_everything() -> None:
    for row in known_lines():
        assert not row.pattern.search("error: something nobody has seen")
        assert not row.pattern.search("fatal: something nobody has seen")


@all_releases
def test_clean_logs_pass_and_say_how_much_was_read(recorded: Recorded, release: str) -> None:
    verdict = judge(recorded(release), Release(release))
    assert verdict.passed
    assert re.fullmatch(r"5 logs with \d+ lines hold no unexpected error", verdict.evidence[0])


def test_logs_in_which_nothing_stands_do_not_pass(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.controller = ""
    machine.slurmd_logs = dict.fromkeys(("gpu001", "gpu002", "gpu003", "gpu004"), "")
    verdict = judge(machine, Release("24.11"))
    assert (verdict.passed, verdict.evidence) == (False, ("no daemon has logged anything",))


@all_releases
def test_what_slurmctld_says_of_many_nodes_is_one_line(
    recorded: Recorded, capture: Capture, release: str
) -> None:
    machine = recorded(release)
    machine.controller += capture(release, "too_few_gpus.log")
    verdict = judge(machine, Release(release))
    assert verdict.failed
    assert len(verdict.evidence) == 2
    assert re.fullmatch(
        r"ctl1: slurmctld: error: Setting node gpu\[.*\] state to INVAL with reason:.*\(4 < 8\)",
        verdict.evidence[0],
    )


def test_the_same_line_of_several_slurmds_is_one_line_and_theirs_alone_another(
    recorded: Recorded, capture: Capture
) -> None:
    machine = recorded("24.11")
    failed = capture("24.11", "no_device.log")
    machine.slurmd_logs = {
        "gpu001": failed,
        "gpu003": failed + "[2026-12-01T01:00:00.000] error: own trouble\n",
    }
    assert judge(machine, Release("24.11")).evidence == (
        "gpu[001,003]: slurmd: error: Waiting for gres.conf file /dev/nvidia8",
        "gpu[001,003]: slurmd: fatal: can't stat gres.conf file /dev/nvidia8: No such file or directory",
        "gpu003: slurmd: error: own trouble",
    )


def test_a_name_within_another_name_is_not_the_same_host(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.slurmd_logs = {
        "gpu001": "error: cannot reach gpu0010\n",
        "gpu002": "error: cannot reach gpu0020\n",
    }
    assert judge(machine, Release("24.11")).evidence == (
        "gpu001: slurmd: error: cannot reach gpu0010",
        "gpu002: slurmd: error: cannot reach gpu0020",
    )


def test_evidence_is_cut_where_it_gets_long_and_says_by_how_much(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.controller = "".join(f"error: trouble number {'x' * number}\n" for number in range(1, 26))
    evidence = judge(machine, Release("24.11")).evidence
    assert len(evidence) == 21
    assert evidence[-1] == "and 5 more"


def test_what_is_said_of_every_job_is_said_once(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.slurmd_logs = {
        "gpu001": (
            "error: [job 3] epilog failed status=0:0\n"
            "error: [job 4] epilog failed status=0:0\n"
            "[4.batch] error: TaskProlog failed status=1\n"
            "[5.batch] error: TaskProlog failed status=1\n"
            "error: [job 5] epilog failed status=1:0\n"
        )
    }
    assert judge(machine, Release("24.11")).evidence == (
        "gpu001: slurmd: error: [job 3] epilog failed status=0:0",
        "gpu001: slurmd: [4.batch] error: TaskProlog failed status=1",
        "gpu001: slurmd: error: [job 5] epilog failed status=1:0",
    )


_LATE = "error: Nodes gpu[001-003] not responding"


def test_nodes_that_answered_late_are_no_error_where_all_answer_in_the_end(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.controller += f"{_LATE}\n"
    assert judge(machine, Release("24.11")).passed


@pytest.mark.parametrize("state", ["IDLE*", "DOWN"])
def test_nodes_that_answered_late_are_an_error_where_one_does_not_answer_in_the_end(
    recorded: Recorded, state: str
) -> None:
    machine = recorded("24.11")
    machine.controller += f"{_LATE}\n"
    machine.nodes = machine.nodes.replace("State=IDLE ", f"State={state} ", 1)
    assert judge(machine, Release("24.11")).evidence == (f"ctl1: slurmctld: {_LATE}",)


def test_nodes_that_answered_late_are_an_error_where_slurmctld_tells_of_no_node(recorded: Recorded) -> None:
    machine = recorded("24.11")
    machine.controller, machine.nodes = f"{_LATE}\n", ""
    assert judge(machine, Release("24.11")).evidence == (f"ctl1: slurmctld: {_LATE}",)
