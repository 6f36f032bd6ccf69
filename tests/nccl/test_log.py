"""The first cause among the logs of 64 ranks, for each line that the catalogue knows."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.catalogue.nccl_faults import nccl_faults
from slurmwright.nccl import log_scan
from slurmwright.nccl.log import diagnose

from .logs import LINES, RANKS, clean, host_of, interleaved, said, stream

KINDS = {fault.name: fault.kind for fault in nccl_faults()}
STARTS = [
    (name, text) for name, texts in LINES.items() for text in texts if KINDS[name] in ("cause", "suspect")
]


def test_every_fault_of_the_catalogue_has_a_line() -> None:
    assert set(LINES) == set(KINDS)


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in LINES.items() for text in texts])
def test_a_line_belongs_to_its_fault_and_to_no_other(name: str, text: str) -> None:
    line = said(9, text).encode()
    first = next(
        fault.name
        for fault in nccl_faults()
        if any(word.encode() in line for word in fault.any) and fault.fits(line)
    )
    assert first == name


@pytest.mark.parametrize("timed", [True, False], ids=["with times", "without times"])
@pytest.mark.parametrize(("name", "text"), STARTS)
def test_the_planted_cause_is_first_among_what_follows_it(name: str, text: str, timed: bool) -> None:
    found = diagnose([("job.log", stream(interleaved({37: text}, 60 if timed else None)))])
    assert found.first is not None
    assert (found.first.fault.name, found.first.host) == (name, host_of(37))
    assert found.first.ranks == {37}
    assert found.first.evidence == said(37, text, 60 if timed else None)


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind in ("timeout", "follow")])
def test_what_can_only_follow_is_told_where_nothing_else_is_known(name: str) -> None:
    found = diagnose([("job.log", stream(interleaved({37: LINES[name][0]}, follow=False)))])
    assert found.first is not None
    assert found.first.fault.name == name


@pytest.mark.parametrize("name", [name for name, kind in KINDS.items() if kind == "slow"])
def test_what_is_only_slow_is_told_but_is_no_first_cause(name: str) -> None:
    found = diagnose([("job.log", stream(interleaved({37: LINES[name][0]}, follow=False)))])
    assert found.first is None
    assert [group.fault.name for group in found.groups] == [name]


def test_each_rank_in_a_file_of_its_own_the_earliest_by_time_is_first() -> None:
    files = [list(clean(rank)) for rank in range(RANKS)]
    files[50].append(said(50, LINES["port-down"][0], 30))
    files[3].append(said(3, LINES["gpu-fault"][0], 90))
    logs = [(f"{rank}.log", stream("\n".join(rows))) for rank, rows in enumerate(files)]
    found = diagnose(logs)
    assert found.first is not None
    assert (found.first.file, found.first.nic) == ("50.log", "mlx5_6:1")
    assert (found.hosts, found.ranks) == (8, 64)


def test_a_line_without_time_is_placed_by_the_last_time_before_it() -> None:
    late = said(3, LINES["gpu-fault"][0], 90)
    early = [said(50, LINES["flushed"][0], 30), said(50, LINES["unknown-word"][0])]
    found = diagnose([("a", stream(late)), ("b", stream("\n".join(["", *early])))])
    assert found.first is not None
    assert found.first.fault.name == "unknown-word"


def test_clean_logs_tell_nothing() -> None:
    text = "\n".join(line for rank in range(RANKS) for line in clean(rank))
    found = diagnose([("job.log", stream(text))])
    assert (found.first, found.groups, found.unknown_count, found.exit_code) == (None, (), 0, 0)


def test_a_node_without_adapters_of_its_own_is_clean() -> None:
    lines = [
        "Failed to open libibverbs.so[.1]",
        "NET/IB : No device found.",
        "NET/Socket : Using [0]eth0:10.0.0.1<0>",
    ]
    lines.append(
        "P2P is disabled between connected GPUs 1 and 0. You can repress this message with NCCL_X=1."
    )
    found = diagnose([("a", stream("\n".join(said(0, f"INFO NCCL INFO {line}") for line in lines)))])
    assert found.groups == ()


def test_a_tcp_cluster_is_clean_unless_its_nodes_have_rdma() -> None:
    text = said(0, LINES["over-tcp"][0])
    assert diagnose([("a", stream(text))]).groups == ()
    assert diagnose([("a", stream(text))], rdma=True).groups[0].fault.name == "over-tcp"


def test_limits_of_nccl_and_of_pytorch_are_counted_apart() -> None:
    lines = [said(rank, LINES["watchdog"][0]) for rank in range(3)] + [said(9, LINES["retry-exceeded"][0])]
    assert diagnose([("a", stream("\n".join(lines)))]).timeouts == {"nccl": 1, "pytorch": 3}


def test_a_limit_of_pytorch_before_a_lost_peer_is_the_first() -> None:
    lines = [said(4, LINES["watchdog"][0]), said(9, LINES["retry-exceeded"][0], 0)]
    found = diagnose([("a", stream("\n".join(reversed(lines))))])
    assert found.first is not None
    assert (found.first.fault.name, found.first.ranks) == ("watchdog", {4})


def test_lines_are_grouped_by_host_and_adapter() -> None:
    lines = [
        said(rank, LINES["retry-exceeded"][0].replace("mlx5_3", f"mlx5_{rank % 2}")) for rank in range(16)
    ]
    found = diagnose([("a", stream("\n".join(lines)))])
    assert [(one.host, one.nic, one.count) for one in found.groups] == [
        (host, nic, 4) for host in ("gpu001", "gpu002") for nic in ("mlx5_0", "mlx5_1")
    ]


def test_a_warning_that_nobody_knows_is_shown_as_such() -> None:
    found = diagnose([("a", stream("x\n" + said(2, "WARN foo.cc:1 NCCL WARN The moon is full")))])
    assert (found.first, found.unknown_count, found.exit_code) == (None, 1, 1)
    assert found.unknown[0][:2] == ("a", 2)


def test_groups_are_bounded_however_many_hosts_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("slurmwright.nccl.log._GROUPS", 5)
    text = "\n".join(said(8 * at, LINES["gpu-fault"][0]) for at in range(20))
    found = diagnose([("a", stream(text))])
    assert (len(found.groups), found.left_out) == (5, 15)


@given(st.binary(max_size=400), st.integers(1, 64))
@settings(max_examples=60, deadline=None)
def test_any_bytes_in_any_blocks_are_read(data: bytes, size: int) -> None:
    line = said(37, LINES["duplicate-gpu"][0]).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_scan, "BLOCK", size)
        found = diagnose([("a", io.BytesIO(data + b"\n" + line + b"\n" + data))])
    assert found.size == 2 * len(data) + len(line) + 2
    assert any(one.fault.name == "duplicate-gpu" and one.host == host_of(37) for one in found.groups)
    assert (
        next(one.line for one in found.groups if one.fault.name == "duplicate-gpu") == data.count(b"\n") + 2
    )
