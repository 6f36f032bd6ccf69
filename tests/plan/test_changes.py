"""What counts as a change, and what does not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.bundle import Bundle
from slurmwright.core.errors import InputError
from slurmwright.plan import Change, compare

from .conftest import CGROUP, DROP_IN, GRES, SLURM, bundle_file, edited, lab


def told(old: Bundle, new: Bundle) -> list[tuple[str, str]]:
    return [(change.subject, change.kind) for change in compare(old, new).changes]


def only(old: Bundle, new: Bundle) -> Change:
    [change] = compare(old, new).changes
    return change


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("slurm.conf", "NodeName=gpu[1-4]", "NodeName=gpu[1-2,3-4]"),
        ("slurm.conf", "GresTypes=gpu\nTaskPlugin", "KillWait=30\ngrestypes=GPU\nTASKPLUGIN"),
        ("slurm.conf", "Nodes=ALL Default=YES", "Default=yes Nodes=gpu[1-4]"),
        ("slurm.conf", "Nodes=gpu[3-4]", "Nodes=gpu4,gpu3 State=UP"),
        ("slurm.conf", "ClusterName=lab", "# a comment\nClusterName=LAB"),
        ("gres.conf", "File=/dev/nvidia[0-1]", "File=/dev/nvidia0,/dev/nvidia1"),
        ("cgroup.conf", "ConstrainDevices=yes", "ConstrainDevices=TRUE\nAllowedRAMSpace=100"),
    ],
)
def test_the_same_meaning_in_other_words_is_no_change(base: Bundle, name: str, old: str, new: str) -> None:
    plan = compare(base, edited(base, name, (old, new)))
    assert plan.changes == ()
    assert plan.steps == ()
    assert plan.same_meaning == (f"/etc/slurm/{name}",)
    assert plan.summary.endswith("nothing to do")


@given(order=st.permutations(SLURM.splitlines()[:6] + SLURM.splitlines()[7:]))
@settings(max_examples=50, deadline=None)
def test_the_order_of_lines_is_no_change(order: list[str]) -> None:
    hosts = [line for line in order if line.startswith("SlurmctldHost")]
    lines = [line for line in order if not line.startswith("SlurmctldHost")]
    text = "\n".join([*lines, *sorted(hosts), SLURM.splitlines()[6]]) + "\n"
    assert told(lab(), edited(lab(), "slurm.conf", (SLURM, text))) == []


@pytest.mark.parametrize(
    ("name", "swap", "subject", "kind"),
    [
        ("slurm.conf", ("NodeName=gpu[1-4]", "NodeName=gpu[1-3]"), "node gpu4", "removed"),
        ("slurm.conf", ("RealMemory=1000", "RealMemory=900"), "node gpu[1-4] RealMemory", "changed"),
        ("slurm.conf", ("CoresPerSocket=8", "CoresPerSocket=4"), "node gpu[1-4] CPUs", "changed"),
        ("slurm.conf", ("task/cgroup,task/affinity", "task/affinity"), "TaskPlugin", "changed"),
        ("slurm.conf", ("PartitionName=debug Nodes=gpu[3-4]\n", ""), "partition debug", "removed"),
        ("slurm.conf", ("Nodes=gpu[3-4]", "Nodes=gpu4"), "partition debug Nodes", "changed"),
        ("slurm.conf", ("GresTypes=gpu", "GresTypes=gpu\nKillWait=60"), "KillWait", "added"),
        ("gres.conf", ("Cores=0-7", "Cores=8-15"), "node gpu[1-4] gpu Cores", "changed"),
        ("gres.conf", ("nvidia[0-1]", "nvidia[0-2]"), "node gpu[1-4] gpu Count", "added"),
        ("gres.conf", ("nvidia[0-1]", "nvidia[1,0]"), "node gpu[1-4] gpu File", "changed"),
        ("gres.conf", ("Type=h100", "Type=h200"), "node gpu[1-4] gpu Type", "changed"),
        ("gres.conf", (GRES, f"AutoDetect=nvml\n{GRES}"), "node gpu[1-4] AutoDetect", "added"),
        ("cgroup.conf", (CGROUP, "ConstrainDevices=no\n"), "ConstrainDevices", "changed"),
        ("slurmdbd.conf", ("DbdHost=db1", "DbdHost=db1\nDebugLevel=debug"), "DebugLevel", "added"),
        ("slurmwright.conf", ("infinity", "0"), f"file {DROP_IN} on gpu[1-4]", "changed"),
    ],
)
def test_a_change_is_named_with_what_it_is_about(
    base: Bundle, name: str, swap: tuple[str, str], subject: str, kind: str
) -> None:
    new = edited(base, name, swap)
    if subject == "node gpu4":
        new = edited(new, "slurm.conf", ("Nodes=gpu[3-4]", "Nodes=gpu3"))
        assert (subject, kind) in told(base, new)
        return
    assert (only(base, new).subject, only(base, new).kind) == (subject, kind)


def test_old_and_new_are_shown_as_they_are_written(base: Bundle) -> None:
    change = only(base, edited(base, "gres.conf", ("Cores=0-7", "Cores=8-15")))
    assert (change.old, change.new) == ("0-1: 0-7", "0-1: 8-15")


def test_nodes_that_come_are_one_change_and_their_files_none(base: Bundle) -> None:
    new = edited(base, "slurm.conf", ("NodeName=gpu[1-4]", "NodeName=gpu[1-6]"))
    files = tuple(replace(f, hosts="gpu[1-6]") if f.path == DROP_IN else f for f in new.files)
    plan = compare(base, replace(new, files=files))
    assert [(c.subject, c.kind) for c in plan.changes] == [("node gpu[5-6]", "added")]
    assert plan.changes[0].new == (
        "CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 RealMemory=1000 Gres=gpu:h100:2"
    )


def test_one_of_many_nodes_is_told_apart(base: Bundle) -> None:
    line = next(line for line in SLURM.splitlines() if line.startswith("NodeName"))
    split = (
        line.replace("gpu[1-4]", "gpu[1-3]") + "\n" + line.replace("gpu[1-4]", "gpu4").replace("1000", "900")
    )
    change = only(base, edited(base, "slurm.conf", (line, split)))
    assert (change.subject, change.old, change.new) == ("node gpu4 RealMemory", "1000", "900")


def test_a_topology_that_comes_is_told_switch_by_switch(base: Bundle) -> None:
    text = "SwitchName=leaf1 Nodes=gpu[1-4]\n"
    new = replace(base, files=(*base.files, bundle_file("/etc/slurm/topology.conf", text, "ctl[1-2]")))
    assert told(base, new) == [("switch leaf1 nodes", "added")]


def test_a_copy_for_another_host_is_told_with_its_host(base: Bundle) -> None:
    files = tuple(
        replace(f, hosts="ctl[1-2],login1") if f.path.endswith("/slurm.conf") else f for f in base.files
    )
    change = only(base, replace(base, files=files))
    assert (change.subject, change.kind) == ("file /etc/slurm/slurm.conf on login1", "added")
    assert change.effects.as_json() == {
        "slurmctld": "none",
        "slurmd": "none",
        "slurmdbd": "none",
        "drain_first": False,
    }


def test_a_copy_that_one_host_holds_alone_is_told_before_it_is_overwritten(base: Bundle) -> None:
    main = next(f for f in base.files if f.path.endswith("/slurm.conf"))
    by_hand = replace(main, hosts="login1", text=main.text + "KillWait=99\n")
    live = replace(base, files=tuple(sorted((*base.files, by_hand))))
    new = tuple(replace(f, hosts="ctl[1-2],login1") if f is main else f for f in base.files)
    change = only(live, replace(base, files=new))
    assert change.subject == "file /etc/slurm/slurm.conf on login1, unlike the other hosts"
    assert "by hand" in change.why


def test_another_release_is_no_change_of_files(base: Bundle) -> None:
    with pytest.raises(InputError, match="that is an upgrade"):
        compare(base, replace(base, release="25.05"))


def test_a_bundle_without_slurm_conf_cannot_be_compared(base: Bundle) -> None:
    with pytest.raises(InputError, match=r"no slurm\.conf"):
        compare(replace(base, files=base.files[:1]), base)
