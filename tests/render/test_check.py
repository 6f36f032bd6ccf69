"""What must not leave render: options of another release, and lines that stop slurmctld."""

from __future__ import annotations

import pytest

from slurmwright.core.errors import InputError
from slurmwright.core.release import Release
from slurmwright.render.check import check_rendered
from slurmwright.render.rows import Line, Section, setting

NODE = Line((("NodeName", "n[1-2]"), ("CPUs", "4"), ("Gres", "gpu:h100:2,gpu:1g.10gb:1")))
PARTITION = Line((("PartitionName", "p"), ("Nodes", "n[1-2]")))
GRES = (
    Line((("NodeName", "n[1-2]"), ("Name", "gpu"), ("Type", "h100"), ("File", "/dev/nvidia[0-1]"))),
    Line((("NodeName", "n[1-2]"), ("Name", "gpu"), ("Type", "1g.10gb"), ("MultipleFiles", "/dev/a,/dev/b"))),
)


def faults(
    node: Line = NODE,
    partition: Line = PARTITION,
    gres: tuple[Line, ...] = GRES,
    types: str = "gpu",
    release: str = "24.11",
    key: tuple[str, str] = ("SlurmUser", "slurm"),
) -> list[str]:
    files = {
        "slurm.conf": (
            Section("", (setting(*key), setting("GresTypes", types))),
            Section("", (node, partition)),
        ),
        "gres.conf": (Section("", gres),),
        "cgroup.conf": (),
    }
    try:
        check_rendered(Release.parse(release), files)
    except InputError as error:
        return str(error).splitlines()
    return []


def test_files_that_agree_pass() -> None:
    assert faults() == []


@pytest.mark.parametrize(
    ("release", "key", "words"),
    [
        ("22.05", ("SlurmctldParameters", "enable_configless"), None),
        ("24.11", ("SelectType", "select/cons_res"), "was dropped in Slurm 23.11"),
        ("22.05", ("PreemptParameters", "send_user_signal"), "came with Slurm 23.02"),
        ("24.11", ("SlurmctldParameter", "x"), "did you mean 'SlurmctldParameters'"),
        ("23.11", ("SelectTypeParameters", "ENFORCE_BINDING_GRES"), "came with Slurm 23.11.2"),
        ("23.11.2", ("SelectTypeParameters", "ENFORCE_BINDING_GRES"), None),
    ],
)
def test_each_pair_is_held_against_its_release(release: str, key: tuple[str, str], words: str | None) -> None:
    found = faults(release=release, key=key)
    assert (found == []) == (words is None)
    if words:
        assert found[0].startswith("slurm.conf: ")
        assert words in found[0]


def test_pairs_of_every_kind_of_line_are_held_against_the_release() -> None:
    node = Line((*NODE.pairs, ("Parameters", "numa_node_as_socket")))
    partition = Line((*PARTITION.pairs, ("Topology", "t")))
    assert [line.split(" ")[1] for line in faults(node=node, partition=partition)] == [
        "Parameters",
        "Topology",
    ]


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (
            ("AccountingStorageTRES", "gres/gpu"),
            "AccountingStorageTRES=gres/gpu stops slurmctld without slurmdbd",
        ),
        (("AccountingStorageTRES", "cpu,mem"), None),
    ],
)
def test_gpus_are_counted_with_slurmdbd_only(key: tuple[str, str], words: str | None) -> None:
    found = faults(key=key)
    assert len(found) == (words is not None)
    assert not words or words in found[0]


def test_gpus_are_billed_with_slurmdbd_only() -> None:
    partition = Line((*PARTITION.pairs, ("TRESBillingWeights", "GRES/gpu=1.0")))
    assert "TRESBillingWeights=GRES/gpu=1.0 stops slurmctld" in faults(partition=partition)[0]
    assert faults(partition=partition, key=("AccountingStorageType", "accounting_storage/slurmdbd")) == []


@pytest.mark.parametrize(
    ("pair", "entries"),
    [
        (("NodeHostname", "h[1-2]"), None),
        (("NodeHostname", "h1"), None),
        (("Port", "[7001-7002]"), None),
        (("Port", "7001"), None),
        (("NodeHostname", "h[1-3]"), 3),
        (("BcastAddr", "b[1-4]"), 4),
        (("Port", "[7001-7003]"), 3),
    ],
)
def test_lists_that_go_by_host_are_as_long_as_the_hosts(pair: tuple[str, str], entries: int | None) -> None:
    found = faults(node=Line((*NODE.pairs, pair)))
    if entries is None:
        assert found == []
    else:
        assert found == [
            f"slurm.conf: n[1-2]: {pair[0]}={pair[1]} has {entries} entries for 2 hosts; give one for each, "
            "and hosts that differ a group of their own"
        ]
