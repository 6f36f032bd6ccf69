"""Nodes out of and into service: what slurmctld is told, in which order, and what stands as the reason."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from slurmwright.apply.daemons import Systemd
from slurmwright.apply.hosts import UNREACHED
from slurmwright.apply.nodes import Holding, NodeControl, admit, faults_of, plain_reason, wait_until_empty
from slurmwright.core.errors import InputError, SlurmwrightError
from slurmwright.core.finding import Finding, Severity
from slurmwright.core.release import Release
from slurmwright.core.run import Result
from slurmwright.verify.values import Check, Report


class Slurm:
    """Stands for the controllers: answers sinfo and squeue, and notes what scontrol is told."""

    def __init__(self, states: dict[str, str], jobs: Sequence[str] = (), gone: Sequence[str] = ()) -> None:
        self.states, self.queue, self.gone = states, list(jobs), gone
        self.told: list[str] = []
        self.asked: list[str] = []

    def run(self, host: str, argv: Sequence[str], *, stdin: str = "", limit_s: float = 60) -> Result:
        self.asked.append(host)
        if host in self.gone:
            return Result(tuple(argv), UNREACHED, "", "no route")
        if argv[0] == "sinfo":
            return Result(tuple(argv), 0, "".join(f"{n}|{s}|none\n" for n, s in self.states.items()), "")
        if argv[0] == "squeue":
            return Result(tuple(argv), 0, self.queue.pop(0) if self.queue else "", "")
        self.told.append(" ".join(argv[1:]))
        bad = "NodeName=bad" in argv
        return Result(tuple(argv), int(bad), "", "Invalid node name specified" if bad else "")

    def put(self, host: str, path: str, text: str, *, owner: str, group: str, mode: str) -> Result:
        raise AssertionError("nothing is put anywhere")


def control(slurm: Slurm) -> NodeControl:
    return NodeControl(slurm, ["ctl1", "ctl2"], Release.parse("24.11"))


def report(*checks: Check, findings: tuple[Finding, ...] = ()) -> Report:
    return Report("lab", checks, findings)


GOOD = Check("gpus", "gpu[1-2]", True)


def test_a_backup_is_asked_where_the_primary_does_not_answer() -> None:
    slurm = Slurm({"gpu1": "idle"}, gone=["ctl1"])
    both = control(slurm)
    assert (both.states(), both.states()) == ({"gpu1": ("idle", "none")},) * 2
    assert slurm.asked == ["ctl1", "ctl2", "ctl2"]


def test_what_slurm_refuses_is_said_in_its_own_words() -> None:
    with pytest.raises(SlurmwrightError, match="scontrol update NodeName=bad: Invalid node name"):
        control(Slurm({})).resume(["bad"])


def test_a_node_that_slurmctld_does_not_know_has_no_jobs() -> None:
    slurm = Slurm({"gpu1": "mixed"}, ["7|ann|RUNNING|gpu1\n"])
    assert control(slurm).jobs(["new1"]) == ()
    assert [str(job) for job in control(slurm).jobs(["gpu1", "new1"])] == ["7 of ann (running) on gpu1"]


@pytest.mark.parametrize(
    ("text", "plain"), [("a\nb\x1b[0m  c ", "a b [0m c"), ("x" * 300, "x" * 197 + "...")]
)
def test_a_reason_fits_one_line(text: str, plain: str) -> None:
    assert plain_reason(text) == plain


def test_no_reason_is_refused() -> None:
    with pytest.raises(InputError, match="tells the next admin why"):
        plain_reason(" \n")


def test_waiting_ends_with_the_last_job_or_with_the_time() -> None:
    rows = ["7|ann|RUNNING|gpu1\n", "7|ann|COMPLETING|gpu1\n"]
    seen: list[int] = []
    now = iter(range(100))
    common = {"sleep": lambda _: None, "clock": lambda: float(next(now))}
    slurm = Slurm({"gpu1": "drng"}, rows)
    assert wait_until_empty(control(slurm), ["gpu1"], 50, lambda jobs: seen.append(len(jobs)), **common) == ()
    assert seen == [1, 1]
    slurm = Slurm({"gpu1": "drng"}, rows * 9)
    left = wait_until_empty(control(slurm), ["gpu1"], 3, lambda _: None, **common)
    assert [job.number for job in left] == ["7"]


def test_new_nodes_are_verified_in_a_reservation_before_anybody_uses_them() -> None:
    slurm = Slurm({"gpu1": "drained", "gpu2": "drained"})
    names: list[str] = []

    def verify(reservation: str) -> Report:
        names.append(reservation)
        slurm.told.append("-- verify")
        return report(GOOD)

    assert admit(control(slurm), ["gpu1", "gpu2"], "ann", verify) == {}
    assert slurm.told == [
        "create ReservationName=slurmwright_gpu1 Nodes=gpu[1-2] Users=ann StartTime=now Duration=60 "
        "Flags=IGNORE_JOBS",
        "update NodeName=gpu[1-2] State=RESUME",
        "-- verify",
        "delete ReservationName=slurmwright_gpu1",
    ]
    assert names == ["slurmwright_gpu1"]


def test_a_node_that_fails_is_drained_before_the_reservation_goes_with_the_finding_as_reason() -> None:
    slurm = Slurm({"gpu1": "drained", "gpu2": "drained"})
    fault = Finding("verify/devices", "devices", Severity.CRITICAL, "opens all GPUs", host="gpu2")
    found = report(
        Check("gpus", "gpu2", False, ("gpu2: 8 open",)), Check("gpus", "gpu1", True), findings=(fault,)
    )
    assert admit(control(slurm), ["gpu1", "gpu2"], "ann", lambda _: found) == {
        "gpu2": "verify/devices: opens all GPUs"
    }
    assert [line.split()[0] for line in slurm.told] == ["create", "update", "update", "delete", "update"]
    assert slurm.told[2] == "update NodeName=gpu2 State=DRAIN Reason=verify failed"
    assert slurm.told[-1] == "update NodeName=gpu2 State=DRAIN Reason=verify/devices: opens all GPUs"


def test_what_could_not_be_checked_has_not_passed() -> None:
    found = report(Check("in-service", "gpu[1-2]", True), Check("gpus", "gpu1", None, (), "no answer"))
    assert faults_of(found, ["gpu1", "gpu2"]) == {
        "gpu1": "not verified: no answer",
        "gpu2": "not verified: no job ran there",
    }


def test_a_node_that_never_came_stays_drained_and_is_not_tried() -> None:
    slurm = Slurm({"gpu1": "down*"})
    assert admit(control(slurm), ["gpu1", "gpu9"], "ann", lambda _: report(GOOD), sleep=lambda _: None) == {
        "gpu1": "not verified: it is down*, slurmd has not registered",
        "gpu9": "not verified: it is unknown to slurmctld, slurmd has not registered",
    }
    assert not [line for line in slurm.told if "RESUME" in line or line.startswith("create")]


def test_nodes_are_drained_again_where_verify_itself_ends() -> None:
    slurm = Slurm({"gpu1": "drained"})

    def verify(_: str) -> Report:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        admit(control(slurm), ["gpu1"], "ann", verify)
    assert slurm.told[-2:] == [
        "update NodeName=gpu1 State=DRAIN Reason=verify did not end",
        "delete ReservationName=slurmwright_gpu1",
    ]


def test_new_nodes_are_drained_before_the_first_of_them_starts() -> None:
    slurm = Slurm({"gpu8": "unknown", "gpu9": "unknown"})
    daemons = Systemd(Holding(slurm, control(slurm), ["gpu8", "gpu9"]))
    for host, daemon in (("ctl1", "slurmctld"), ("gpu1", "slurmd"), ("gpu9", "slurmd"), ("gpu8", "slurmd")):
        assert daemons.start(host, daemon).ok
    told = [line for line in slurm.told if line.startswith("update") or line.endswith("slurmd")]
    assert [line.startswith("update") for line in told] == [False, True, False, False]
    assert told[1] == "update NodeName=gpu[8-9] State=DRAIN Reason=new: not verified yet"


def test_a_new_node_that_cannot_be_drained_is_not_started() -> None:
    slurm = Slurm({})
    done = Systemd(Holding(slurm, control(slurm), ["bad"])).start("bad", "slurmd")
    assert not done.ok
    assert done.last_line.startswith("is not drained, so slurmd was not started")
    assert [line for line in slurm.told if line.endswith("slurmd")] == []
