"""Comments that allow a fault: for a line, for a file, and only with a reason."""

from __future__ import annotations

import pytest

from slurmwright.rules.suppress import allowed, is_allowed


def targets(text: str) -> list[tuple[int, bool]]:
    return [(one.target, not one.problem) for one in allowed(text)]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("A=1 # slurmwright: allow GR003 because it is so\n", 1),
        ("# slurmwright: allow GR003 because it is so\nA=1\n", 2),
        ("# slurmwright: allow GR003 because it is so\n# more\n\nA=1\n", 4),
        ("#slurmwright:allow GR003, cores-the-node-lacks -- it is so\nA=1\n", 2),
        ("A=1\n# slurmwright: allow-file GR003 because it is so\n", 0),
        ("<!-- slurmwright: allow NC002 because it is so -->\n<system/>\n", 2),
    ],
)
def test_the_line_a_comment_is_for(text: str, target: int) -> None:
    assert targets(text) == [(target, True)]


@pytest.mark.parametrize(
    "text",
    [
        "# slurmwright: allow GR003\nA=1\n",
        "# slurmwright: allow GR003 because\nA=1\n",
        "# slurmwright: allow GR003 because x\nA=1\n",
        "# slurmwright: allow\nA=1\n",
        "# slurmwright: ignore GR003 because it is so\nA=1\n",
    ],
)
def test_without_a_reason_nothing_is_allowed(text: str) -> None:
    assert [ok for _, ok in targets(text)] == [False]
    assert not is_allowed("GR003", "cores-the-node-lacks", 2, allowed(text))


def test_ids_and_names_both_work() -> None:
    comments = allowed("# slurmwright: allow gr003, gpus-unconstrained because it is so\nA=1\n")
    assert is_allowed("GR003", "cores-the-node-lacks", 2, comments)
    assert is_allowed("CG001", "gpus-unconstrained", 2, comments)
    assert not is_allowed("CG002", "cgroup-conf-missing", 2, comments)
    assert not is_allowed("GR003", "cores-the-node-lacks", 3, comments)


def test_other_comments_are_none() -> None:
    assert allowed("# slurmwright is a tool\nA=1 # allow GR003\n") == ()
