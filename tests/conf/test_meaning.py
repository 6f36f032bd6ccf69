"""Two folders of Slurm's files mean the same, or what differs is named with its lines."""

from __future__ import annotations

import pytest

from slurmwright.conf import read_tree
from slurmwright.conf.meaning import Difference, Meaning, differences, meaning_of
from slurmwright.core.release import Release

RELEASE = Release("24.11")


def meaning(slurm: str = "", gres: str = "", release: Release = RELEASE, **others: str) -> Meaning:
    texts = {"slurm.conf": slurm, "gres.conf": gres}
    texts.update({f"{name}.conf": text for name, text in others.items() if name != "yaml"})
    trees = {}
    for name in texts:
        tree = read_tree(f"/etc/slurm/{name}", {f"/etc/slurm/{n}": t for n, t in texts.items()}.get)
        if tree is not None:
            trees[name] = tree
    return meaning_of(trees, (others["yaml"], "topology.yaml") if "yaml" in others else None, release)


def differing(one: str, other: str) -> list[tuple[str, str]]:
    return [(d.subject, d.what) for d in differences(meaning(one), meaning(other))]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ClusterName=Uni", "clustername = uni"),
        ("TaskPlugin=affinity,cgroup", "TaskPlugin=task/affinity,task/cgroup"),
        (
            "ControlMachine=a\nControlAddr=10.0.0.1\nBackupController=b",
            "SlurmctldHost=a(10.0.0.1)\nSlurmctldHost=b",
        ),
        ("MaxJobCount=1\nMaxJobCount=2", "MaxJobCount=2"),
        ("DisableRootJobs=1", "DisableRootJobs=YES"),
        ("", "AccountingStorageType=accounting_storage/none"),
        (
            "NodeName=n[1-2] CPUs=8 Sockets=2 CoresPerSocket=4",
            "NodeName=n1,n2 Boards=1 SocketsPerBoard=2 CoresPerSocket=4",
        ),
        ("NodeName=n1 CPUs=4", "NodeName=n1 Sockets=4"),
        ("NodeName=DEFAULT Weight=3\nNodeName=n1\nNodeName=n2", "NodeName=n[1-2] Weight=3"),
        ("NodeName=n1 Gres=gpu:2 State=UNKNOWN Weight=1", "NodeName=n1 Gres=gpu:2"),
        ("NodeName=n1 Feature=b,a", "NodeName=n1 Features=a,b"),
        ("NodeName=n1 NodeAddr=n1", "NodeName=n1"),
        (
            "NodeName=n[1-2] NodeAddr=10.0.0.[2,1]",
            "NodeName=n1 NodeAddr=10.0.0.2\nNodeName=n2 NodeAddr=10.0.0.1",
        ),
        ("NodeName=n[1-2]\nPartitionName=p Nodes=ALL", "NodeName=n[1-2]\nPartitionName=p Nodes=n2,n1"),
        (
            "NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=1-0",
            "NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=24:00:00",
        ),
        (
            "NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=INFINITE",
            "NodeName=n1\nPartitionName=p Nodes=n1 State=UP",
        ),
        (
            "NodeName=n[1-3] Feature=x\nNodeName=m\nNodeSet=s Feature=x\nPartitionName=p Nodes=s",
            "NodeName=n[1-3] Feature=x\nNodeName=m\nPartitionName=p Nodes=n[1-3]",
        ),
    ],
)
def test_written_otherwise_and_meant_the_same(one: str, other: str) -> None:
    assert differing(one, other) == []


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("MaxJobCount=1", "", ("", "maxjobcount")),
        ("SlurmctldHost=a\nSlurmctldHost=b", "SlurmctldHost=b\nSlurmctldHost=a", ("", "slurmctldhost")),
        ("Prolog=/a\nProlog=/b", "Prolog=/b", ("", "prolog")),
        ("NodeName=n[1-3] Weight=2", "NodeName=n[1-3] Weight=3", ("node n[1-3]", "weight")),
        ("NodeName=n1 CPUs=4", "NodeName=n1 CoresPerSocket=4", ("node n1", "cpus")),
        ("NodeName=n1 RealMemory=2", "NodeName=n1", ("node n1", "realmemory")),
        (
            "NodeName=n1\nPartitionName=p Nodes=n1 MaxTime=90",
            "NodeName=n1\nPartitionName=p Nodes=n1",
            ("partition p", "maxtime"),
        ),
        ("DownNodes=n1", "", ("DownNodes 1", "line")),
    ],
)
def test_what_differs_is_named(one: str, other: str, what: tuple[str, str]) -> None:
    assert differing(one, other) == [what]


def test_several_prolog_lines_count_from_24_05_and_the_last_before() -> None:
    several, last = "Prolog=/a\nProlog=/b", "Prolog=/b"
    old = Release("23.11")
    assert differences(meaning(several, release=old), meaning(last, release=old)) == ()


def test_the_place_of_a_difference_is_the_line_that_says_it() -> None:
    [found] = differences(meaning("ClusterName=a\nMaxJobCount=1"), meaning("ClusterName=a"))
    assert found.left is not None
    assert (found.left.file, found.left.line, found.right) == ("/etc/slurm/slurm.conf", 2, None)


NODE = "NodeName=n[1-2] Gres=gpu:2\n"


def devices(one: str, other: str) -> list[Difference]:
    return list(differences(meaning(NODE, one), meaning(NODE, other)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "Name=gpu File=/dev/nvidia[0-1]",
            "NodeName=n[1-2] Name=gpu File=/dev/nvidia0\nNodeName=n[1-2] Name=gpu File=/dev/nvidia1",
        ),
        ("AutoDetect=nvml", "NodeName=n1 AutoDetect=nvml\nNodeName=n2 AutoDetect=NVML"),
        ("NodeName=n[1-2] AutoDetect=off Name=gpu File=/dev/nvidia[0-1]", "Name=gpu File=/dev/nvidia[0-1]"),
        ("Name=gpu File=/dev/nvidia[0-1] Cores=0,1,2", "Name=gpu File=/dev/nvidia[0-1] CPUs=0-2"),
        ("Name=mps Count=200\nName=gpu File=/dev/nvidia[0-1]", "Name=gpu File=/dev/nvidia[0-1]"),
    ],
)
def test_the_same_devices(one: str, other: str) -> None:
    assert devices(one, other) == []


@pytest.mark.parametrize(
    ("one", "other", "what"),
    [
        ("Name=gpu File=/dev/nvidia[1,0]", "Name=gpu File=/dev/nvidia[0,1]", ["gpu 0", "gpu 1"]),
        ("Name=gpu File=/dev/nvidia[0-1] Cores=0-3", "Name=gpu File=/dev/nvidia[0-1]", ["gpu 0", "gpu 1"]),
        ("Name=gpu File=/dev/nvidia[0-1]", "Name=gpu File=/dev/nvidia0", ["gpu 1"]),
        ("AutoDetect=nvml", "", ["AutoDetect"]),
    ],
)
def test_other_devices(one: str, other: str, what: list[str]) -> None:
    assert [(d.subject, d.what) for d in devices(one, other)] == [("node n[1-2]", word) for word in what]


def test_switches_are_compared_by_name() -> None:
    one = meaning(topology="SwitchName=a Nodes=n[1-2]\nSwitchName=t Switches=a")
    same = meaning(topology="SwitchName=t Switches=a\nSwitchName=a Nodes=n2,n1")
    other = meaning(topology="SwitchName=a Nodes=n[1-3]\nSwitchName=t Switches=a")
    assert differences(one, same) == ()
    assert [d.subject for d in differences(one, other)] == ["switch a"]


def test_topology_yaml_counts_from_25_05_on() -> None:
    text = "- topology: x\n  cluster_default: true\n  tree:\n    switches: [{switch: a, nodes: n1}]\n"
    new, old = Release("25.05"), Release("24.11")
    assert [d.what for d in differences(meaning(yaml=text, release=new), {})] == [
        "topology",
        "cluster_default",
        "nodes",
    ]
    assert differences(meaning(yaml=text, release=old), {}) == ()


@pytest.mark.parametrize("name", ["cgroup", "slurmdbd"])
def test_the_other_files_are_compared_too(name: str) -> None:
    one = meaning(**{name: "SomeKey=1"})
    assert [(d.file, d.what) for d in differences(one, meaning())] == [(f"{name}.conf", "somekey")]


@pytest.mark.parametrize(
    "line",
    ["KillWait=30", "SchedulerType=sched/backfill", "SlurmctldPort=6817", "killwait=30"],
)
def test_a_default_of_the_catalogue_written_out_is_no_difference(line: str) -> None:
    assert differences(meaning("ClusterName=a"), meaning(f"ClusterName=a\n{line}")) == ()


def test_another_value_than_the_default_is_a_difference() -> None:
    [found] = differences(meaning("ClusterName=a"), meaning("ClusterName=a\nKillWait=60"))
    assert (found.what, found.left) == ("killwait", None)
