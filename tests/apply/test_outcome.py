"""What became of hosts, and the exit code that follows."""

from __future__ import annotations

from slurmwright.apply.events import Event
from slurmwright.apply.outcome import Outcome, alike, diffs_alike, outcome
from slurmwright.apply.steps import Step

HOSTS = ("a", "b")


def result(host: str, status: str, text: str = "") -> Event:
    return Event("result", host=host, status=status, text=text)


def stats(**hosts: dict[str, int]) -> Event:
    return Event("stats", counts=hosts)


def run(*events: Event, code: int = 0, interrupted: bool = False, check: bool = False) -> Outcome:
    first = (Event("task", name="Place", role="files"), Event("start", host="a"), Event("start", host="b"))
    return outcome(HOSTS, (*first, *events), code=code, interrupted=interrupted, check=check)


def states(found: Outcome) -> dict[str, str]:
    return {host.host: host.state for host in found.hosts}


def test_all_done_without_a_change_is_0_and_changed_0() -> None:
    found = run(result("a", "ok"), result("b", "skipped"), stats(a={}, b={}))
    assert (found.exit_code, found.changed, states(found)) == (0, 0, {"a": "ok", "b": "ok"})


def test_changes_are_counted_by_task() -> None:
    found = run(result("a", "changed"), result("a", "changed"), result("b", "ok"), stats(a={}, b={}))
    assert (found.exit_code, found.changed, states(found)) == (0, 2, {"a": "changed", "b": "ok"})


def test_a_failed_host_beside_a_done_one_is_unfinished() -> None:
    found = run(result("a", "ok"), result("b", "failed", "no space"), stats(a={}, b={"failures": 1}), code=2)
    assert (found.exit_code, found.done, found.not_done) == (3, ("a",), ("b",))
    failed = found.hosts[1]
    assert (failed.task, failed.message) == ("files: Place", "no space")


def test_a_host_that_is_lost_after_a_change_is_unfinished() -> None:
    found = run(
        result("a", "changed"), result("b", "changed"), result("b", "unreachable", "gone"),
        stats(a={}, b={"unreachable": 1}), code=4,
    )  # fmt: skip
    assert (found.exit_code, states(found)) == (3, {"a": "changed", "b": "unreachable"})


def test_nothing_reached_is_nothing_done() -> None:
    found = run(
        result("a", "unreachable"), result("b", "unreachable"), Event("stopped"),
        stats(a={"unreachable": 1}, b={"unreachable": 1}), code=4,
    )  # fmt: skip
    assert (found.exit_code, found.done) == (2, ())


def test_a_refusal_before_the_first_change_is_nothing_done() -> None:
    found = run(result("a", "failed", "stale"), Event("stopped"), stats(a={"failures": 1}, b={}), code=2)
    assert (found.exit_code, states(found)) == (2, {"a": "failed", "b": "stopped"})


def test_a_stop_after_changes_leaves_every_host_unfinished() -> None:
    found = run(
        result("a", "changed"), result("b", "failed"), Event("stopped"),
        stats(a={}, b={"failures": 1}), code=2,
    )  # fmt: skip
    assert (found.exit_code, found.not_done) == (3, ("a", "b"))


def test_hosts_whose_plays_were_over_before_the_stop_are_done() -> None:
    planned = (Step("nodes", ("a",), ()), Step("login", ("b",), ()))
    events = (
        Event("play", name="nodes"), Event("task"), result("a", "changed"),
        Event("play", name="login"), result("b", "failed"), Event("stopped"),
        stats(a={}, b={"failures": 1}),
    )  # fmt: skip
    found = outcome(HOSTS, events, code=2, planned=planned)
    assert (found.exit_code, found.done, found.not_done) == (3, ("a",), ("b",))


def test_hosts_of_a_play_that_did_not_begin_are_not_done() -> None:
    planned = (Step("nodes", ("a",), ()), Step("login", ("b",), ()))
    events = (Event("play", name="nodes"), Event("task"), result("a", "changed"), result("b", "ok"))
    assert outcome(HOSTS, events, code=1, interrupted=True, planned=planned).not_done == ("a", "b")


def test_what_a_rescue_mended_is_done() -> None:
    found = run(result("a", "failed"), result("b", "ok"), stats(a={"rescued": 1}, b={}))
    assert (found.exit_code, states(found)["a"], found.hosts[0].message) == (0, "ok", "")


def test_an_interrupt_leaves_hosts_half_way() -> None:
    found = run(result("a", "changed"), interrupted=True, code=1)
    assert (found.exit_code, found.not_done, found.complete) == (3, ("a", "b"), False)


def test_a_host_that_never_began_is_told_apart() -> None:
    found = outcome(HOSTS, (Event("task"), Event("start", host="a")), code=1, interrupted=True)
    assert states(found) == {"a": "stopped", "b": "waiting"}


def test_ansible_that_does_not_come_to_an_end_is_not_success() -> None:
    assert run(result("a", "ok"), result("b", "ok"), code=250).exit_code == 2


def test_a_check_that_would_change_is_1_and_one_that_would_not_is_0() -> None:
    ends = stats(a={}, b={})
    assert run(result("a", "changed"), result("b", "ok"), ends, check=True).exit_code == 1
    assert run(result("a", "ok"), result("b", "ok"), ends, check=True).exit_code == 0


def test_a_check_with_a_lost_host_is_1_and_one_that_reached_nobody_is_2() -> None:
    lost = result("b", "unreachable")
    ends = stats(a={}, b={"unreachable": 1})
    assert run(result("a", "ok"), lost, ends, check=True, code=4).exit_code == 1
    both = stats(a={"unreachable": 1}, b={"unreachable": 1})
    assert run(result("a", "unreachable"), lost, both, check=True, code=4).exit_code == 2


def test_a_look_that_finds_every_host_at_fault_is_1() -> None:
    ends = (Event("stopped"), stats(a={"failures": 1}, b={"failures": 1}))
    assert run(result("a", "failed"), result("b", "failed"), *ends, check=True, code=2).exit_code == 1


def test_hosts_that_fared_alike_are_one_row_worst_last() -> None:
    found = run(result("a", "ok"), result("b", "ok"), stats(a={}, b={}))
    assert [(hosts, one.state) for hosts, one in alike(found)] == [(("a", "b"), "ok")]
    mixed = run(result("a", "failed", "x"), result("b", "ok"), stats(a={"failures": 1}, b={}), code=2)
    assert [one.state for _, one in alike(mixed)] == ["ok", "failed"]


def test_the_same_difference_is_shown_once() -> None:
    found = run(Event("diff", host="a", text="+x\n"), Event("diff", host="b", text="+x\n"), stats(a={}, b={}))
    assert diffs_alike(found) == {"+x\n": ("a", "b")}
