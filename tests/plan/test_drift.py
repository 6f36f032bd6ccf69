"""Files that somebody edited on a host: named by host and file, by line and by meaning, without a secret."""

from __future__ import annotations

from dataclasses import replace

from slurmwright.core.bundle import Bundle
from slurmwright.core.hosts import expand, fold
from slurmwright.plan import compare
from slurmwright.plan.drift import drift_of


def by_hand(bundle: Bundle, path: str, host: str, old: str, new: str) -> Bundle:
    """The bundle with one host's copy edited; `old` must be there."""
    files = []
    for file in bundle.files:
        names = expand(file.hosts)
        if file.path != path or host not in names:
            files.append(file)
            continue
        assert old in file.text
        files.append(replace(file, hosts=host, text=file.text.replace(old, new)))
        if len(names) > 1:
            files.append(replace(file, hosts=fold([name for name in names if name != host])))
    return replace(bundle, files=tuple(sorted(files)))


CONF, DBD = "/etc/slurm/slurm.conf", "/etc/slurm/slurmdbd.conf"


def test_an_edit_on_one_controller_is_told_by_line_and_meaning(base: Bundle) -> None:
    live = by_hand(base, CONF, "ctl2", "GresTypes=gpu\n", "GresTypes=gpu\nKillWait=99\n")
    (found,) = drift_of(live, base, base)
    assert (found.hosts, found.path, found.lines) == (("ctl2",), CONF, ("+KillWait=99",))
    assert found.meaning == (("KillWait", None, "99"),)


def test_it_is_found_without_knowing_what_was_pushed(base: Bundle) -> None:
    live = by_hand(base, "/etc/systemd/system/slurmd.service.d/slurmwright.conf", "gpu3", "infinity", "1")
    new = by_hand(base, CONF, "ctl1", "GresTypes=gpu\n", "GresTypes=gpu\nKillWait=9\n")
    (found,) = drift_of(live, new, None)
    assert (found.hosts, found.lines) == (("gpu3",), ("-LimitMEMLOCK=infinity", "+LimitMEMLOCK=1"))


def test_the_plan_shows_the_lines_and_mends_the_copy(base: Bundle) -> None:
    live = by_hand(base, CONF, "ctl2", "GresTypes=gpu\n", "GresTypes=gpu\nKillWait=99\n")
    found = compare(live, base)
    (change,) = found.changes
    assert change.subject == f"file {CONF} on ctl2, unlike the other hosts"
    assert (change.old, change.new) == ("KillWait=99", "no such line")
    assert [step.hosts for step in found.steps if step.action == "activate"] == ["ctl2"]


def test_what_the_first_controller_holds_is_what_the_cluster_runs_with(base: Bundle) -> None:
    live = by_hand(base, CONF, "ctl1", "GresTypes=gpu\n", "GresTypes=gpu\nKillWait=99\n")
    assert [change.subject for change in compare(live, base).changes][:1] == ["KillWait"]


def test_an_edit_that_is_rendered_now_is_no_drift(base: Bundle) -> None:
    live = by_hand(base, CONF, "ctl2", "GresTypes=gpu\n", "GresTypes=gpu\nKillWait=99\n")
    new = by_hand(live, CONF, "ctl1", "GresTypes=gpu\n", "GresTypes=gpu\nKillWait=99\n")
    assert drift_of(live, new, base) == ()


def test_a_change_that_waits_to_be_pushed_is_no_drift(base: Bundle) -> None:
    new = by_hand(base, DBD, "db1", "DbdHost=db1", "DbdHost=db1\nDebugLevel=4")
    assert drift_of(base, new, base) == ()


def test_a_comment_means_nothing_and_is_told_as_a_line(base: Bundle) -> None:
    live = by_hand(base, CONF, "ctl1", "ClusterName", "# tuned\nClusterName")
    (found,) = drift_of(live, base, base)
    assert (found.lines, found.meaning, found.slurms) == (("+# tuned",), (), True)


def test_another_mode_is_drift(base: Bundle) -> None:
    files = tuple(replace(file, mode="0666") if file.path == DBD else file for file in base.files)
    (found,) = drift_of(replace(base, files=files), base, base)
    assert found.lines == ("mode 0600 is now 0666",)


def test_a_file_that_is_gone_and_one_that_came_are_told(base: Bundle) -> None:
    extra = replace(base.files[0], path="/etc/slurm/cli_filter.conf", text="x=1\n")
    kept = tuple(file for file in base.files if not file.path.endswith("gres.conf"))
    found = {drift.path: drift.lines for drift in drift_of(replace(base, files=(*kept, extra)), base, base)}
    assert found == {
        "/etc/slurm/cli_filter.conf": ("was not pushed from here",),
        "/etc/slurm/gres.conf": ("was pushed and is gone",),
    }


def test_a_password_is_in_no_line(base: Bundle) -> None:
    live = by_hand(base, DBD, "db1", "@SLURMWRIGHT_STORAGE_PASSWORD@", "hunter2")
    assert drift_of(live, base, base) == ()
    live = by_hand(live, DBD, "db1", "DbdHost=db1", "DbdHost=db2")
    assert "hunter2" not in repr(drift_of(live, base, base))
