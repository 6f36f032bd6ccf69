"""How faults become findings: releases, several hosts, too many of them, and bytes that no terminal should
get."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from slurmwright.core.errors import InputError
from slurmwright.core.finding import Finding
from slurmwright.core.release import Release
from slurmwright.rules.evidence import Evidence, HostFile
from slurmwright.rules.lint import lint
from slurmwright.rules.reading import Reading
from slurmwright.rules.registry import find_rule
from slurmwright.rules.rule import ERROR, Fault, Place, Rule, rule
from slurmwright.rules.runner import MAX_PER_FILE, judge, printable

FILE = HostFile("/etc/slurm/a.conf", "a.conf", "one\ntwo\n")


def seen(host: str = "", text: str = FILE.text) -> Evidence:
    return Evidence({FILE.path: HostFile(FILE.path, FILE.shown, text)}, host=host)


def rule_of(*faults: Fault, since: str = "22.05", until: str = "26.05", releases: str = "all") -> Rule:
    @rule(
        "XX001",
        "test-faults",
        ERROR,
        why="Why.",
        fix="fix",
        references=(),
        by_release=True,
        releases=releases,
    )
    def check(evidence: Evidence) -> Iterator[Fault]:
        if since <= evidence.release.series <= until:
            yield from faults

    return check


def findings(chosen: Rule, release: Release | None = None, *hosts: Evidence) -> list[Finding]:
    return [one.finding for one in judge(hosts or (seen(),), [chosen], release)]


HERE = Fault("it is wrong", Place(FILE.path, 2))


def test_a_finding_has_what_its_rule_says() -> None:
    (finding,) = findings(rule_of(HERE), Release("24.11"))
    assert (finding.rule, finding.name, finding.severity, finding.fix) == (
        "XX001",
        "test-faults",
        ERROR,
        "fix",
    )
    assert (finding.file, finding.line) == ("a.conf", 2)


def test_what_every_release_has_names_none() -> None:
    assert [finding.message for finding in findings(rule_of(HERE))] == ["it is wrong"]


@pytest.mark.parametrize(
    ("since", "until", "message", "severity"),
    [
        ("24.05", "26.05", "in Slurm 24.05 and later: it is wrong", "error"),
        ("22.05", "23.11", "in Slurm 22.05 to 23.11: it is wrong", "info"),
        ("23.02", "23.02", "in Slurm 23.02: it is wrong", "info"),
    ],
)
def test_without_a_release_a_finding_names_its_own(
    since: str, until: str, message: str, severity: str
) -> None:
    (finding,) = findings(rule_of(HERE, since=since, until=until))
    assert (finding.message, finding.severity.value) == (message, severity)


def test_a_rule_is_not_asked_outside_its_releases() -> None:
    assert findings(rule_of(HERE, releases="24.11+"), Release("24.05")) == []


def test_equal_findings_of_several_hosts_are_one() -> None:
    (finding,) = findings(rule_of(HERE), Release("24.11"), seen("n2"), seen("n1"))
    assert finding.host == "n1,n2"


def test_more_than_enough_are_counted() -> None:
    many = [Fault(f"number {n}", Place(FILE.path, n), about=str(n)) for n in range(1, MAX_PER_FILE + 11)]
    found = findings(rule_of(*many), Release("24.11"))
    assert len(found) == MAX_PER_FILE + 1
    assert found[-1].message == "10 more places like these follow"


def test_faults_of_one_rule_in_one_file_know_of_each_other() -> None:
    first, second = findings(rule_of(HERE, Fault("and here", Place(FILE.path, 1))), Release("24.11"))
    assert first.evidence == ("also line 2: it is wrong",)
    assert second.evidence == ("also line 1: and here",)


def test_a_comment_allows_its_line_only() -> None:
    text = "# slurmwright: allow test-faults because it is so\none\ntwo\n"
    faults = [Fault("a", Place(FILE.path, 2)), Fault("b", Place(FILE.path, 3))]
    assert [f.message for f in findings(rule_of(*faults), Release("24.11"), seen(text=text))] == ["b"]


def test_nothing_that_moves_a_cursor_reaches_a_report() -> None:
    assert printable("a\x1b[2Jb\udce9") == "a\\x1b[2Jb\\udce9"


def test_an_old_release_is_judged_as_the_oldest_known_one() -> None:
    found = lint(Reading((seen(),)), "20.11", [find_rule("IN003")])
    assert [one.finding.rule for one in found] == ["IN003"]


@pytest.mark.parametrize("text", ["26.11", "latest", "24.11.5.1", ""])
def test_a_release_that_is_none_is_an_error(text: str) -> None:
    if text:
        with pytest.raises(InputError):
            lint(Reading((seen(),)), text, [])


def test_what_the_files_tell_of_their_release_may_be_nonsense() -> None:
    assert lint(Reading((seen(),), "99.99"), None, [find_rule("IN003")]) == ()


def test_the_place_of_a_fault_may_be_no_file(tmp_path: Path) -> None:
    (finding,) = findings(rule_of(Fault("nowhere")), Release("24.11"))
    assert (finding.file, finding.line) == ("", 0)
