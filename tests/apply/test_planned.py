"""Which hosts may be away when a plan begins, and which may not."""

from __future__ import annotations

import pytest

from slurmwright.apply.held import Held
from slurmwright.apply.planned import refuse_unfit
from slurmwright.core.bundle import Bundle, BundleFile
from slurmwright.core.errors import SlurmwrightError
from slurmwright.plan import Plan, compare

SLURM = (
    "ClusterName=lab\nSlurmctldHost=ctl1\nSlurmctldParameters=enable_configless\n"
    "NodeName=n[1-3] CPUs=8 RealMemory=1000\nPartitionName=all Nodes=ALL\n"
)


def lab(text: str, holders: str = "ctl1") -> Bundle:
    file = BundleFile("/etc/slurm/slurm.conf", "slurm.conf", holders, "root", "root", "0644", text)
    return Bundle("lab", "24.11", (file,))


REMOVED = compare(lab(SLURM), lab(SLURM.replace("n[1-3]", "n[1-2]")))
#: Every node holds the file.
EVERYWHERE = compare(lab(SLURM, "ctl1,n[1-3]"), lab(SLURM.replace("8 Real", "4 Real"), "ctl1,n[1-3]"))
#: n3 has to do something and gets no file.
CHANGED = compare(lab(SLURM), lab(SLURM.replace("8 Real", "4 Real")))


@pytest.mark.parametrize(
    ("plan", "host", "deaf"),
    [(REMOVED, "n3", ""), (CHANGED, "n3", "n3")],
    ids=["a node that leaves", "a node that slurmctld does not hear"],
)
def test_a_host_that_nothing_is_given_may_be_away(plan: Plan, host: str, deaf: str) -> None:
    assert host in plan.hosts_contacted
    refuse_unfit(plan, Held({host: "not reached"}, ()), frozenset({deaf}))


@pytest.mark.parametrize(
    ("plan", "host", "deaf"),
    [(REMOVED, "ctl1", ""), (CHANGED, "n3", ""), (EVERYWHERE, "n3", "n3")],
    ids=["the controller", "a node that slurmctld hears", "a node that gets a file"],
)
def test_any_other_host_that_is_away_stops_the_plan_before_it_begins(
    plan: Plan, host: str, deaf: str
) -> None:
    with pytest.raises(SlurmwrightError, match=rf"{host} cannot be used .*nothing was changed"):
        refuse_unfit(plan, Held({host: "not reached"}, ()), frozenset({deaf}))


def test_a_file_that_belongs_to_neither_side_stops_the_plan_with_its_name() -> None:
    with pytest.raises(SlurmwrightError, match=r"stale.*\n  ctl1: /etc/slurm/slurm\.conf is another"):
        refuse_unfit(REMOVED, Held({}, ("ctl1: /etc/slurm/slurm.conf is another",)), frozenset())
