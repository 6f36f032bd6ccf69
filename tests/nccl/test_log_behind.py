"""Who was behind when PyTorch's limit ran out, from what the ranks printed about their last collectives."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.cli.nccl import nccl
from slurmwright.nccl.log import Diagnosis, diagnose

from .logs import RANKS, clean, host_of

#: Each rank's last words by version: PyTorch 2.3, 2.5 and newer, and the answer to another rank's signal.
FORMS: Mapping[str, str] = {
    "2.3": "[rank{rank}]:[E ProcessGroupNCCL.cpp:1537] [PG 0 Rank {rank}] Timeout at NCCL work: {work}, "
    "last enqueued NCCL work: {called}, last completed NCCL work: {finished}.",
    "2.5": "[rank{rank}]:[E709 17:05:38.162814866 ProcessGroupNCCL.cpp:2271] [PG ID 0 PG GUID 0(default_pg) "
    "Rank {rank}]  failure detected by watchdog at work sequence id: {work} PG status: last enqueued work: "
    "{called}, last completed work: {finished}",
}
SIGNALLED = (
    "[rank{rank}]:[E709 17:05:38.5 ProcessGroupNCCL.cpp:1685] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
    "Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the "
    "debug info. Last enqueued NCCL work: {called}, last completed NCCL work: {finished}.This is most likely"
)
CAUGHT = (
    "[rank{rank}]:[E709 17:06:38.1 ProcessGroupNCCL.cpp:1414] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] "
    "Process group watchdog thread terminated with exception: [Rank {rank}] Watchdog caught collective "
    "operation timeout: WorkNCCL(SeqNum={work}, OpType={name}, NumelIn=8, NumelOut=8, Timeout(ms)=600000) ran"
)


def read(lines: Iterable[str]) -> Diagnosis:
    started = [line for rank in range(RANKS) for line in clean(rank)]
    return diagnose([("job.log", io.BytesIO("\n".join([*started, *lines, ""]).encode()))])


def told(form: str, rank: int, called: int, finished: int = 20584) -> str:
    return form.format(rank=rank, work=20585, called=called, finished=finished, name="ALLREDUCE")


@pytest.mark.parametrize("version", FORMS)
def test_the_rank_that_did_not_call_the_collective_is_behind(version: str) -> None:
    lines = [told(FORMS[version], rank, 20589) for rank in range(RANKS) if rank != 37]
    behind = SIGNALLED if version != "2.3" else SIGNALLED.replace("PG ID 0 PG GUID 0(default_pg)", "PG 0")
    found = read([*lines[:20], told(behind, 37, 20584), *lines[20:]])
    (one,) = found.behind
    assert (one.verdict, one.work, one.waiting) == ("absent", 20585, 63)
    assert [(at.rank, at.host, at.called) for at in one.ranks] == [(37, host_of(37), 20584)]


def test_a_rank_that_only_answers_the_signal_of_another_is_compared_too() -> None:
    lines = [told(FORMS["2.5"], 0, 20585), told(SIGNALLED, 37, 20584), told(SIGNALLED, 38, 20585)]
    (one,) = read(lines).behind
    assert (one.verdict, [at.rank for at in one.ranks]) == ("absent", [37])


def test_a_person_reads_who_was_behind_on_which_host(tmp_path: Path) -> None:
    started = [line for rank in range(RANKS) for line in clean(rank)]
    lines = [told(FORMS["2.5"], rank, 20585) for rank in range(RANKS) if rank != 37] + [
        told(SIGNALLED, 37, 20584)
    ]
    (tmp_path / "job.log").write_text("\n".join([*started, *lines]), encoding="utf-8")
    text = " ".join(CliRunner().invoke(nccl, ["log", str(tmp_path / "job.log")]).stdout.split())
    assert "behind rank 37 (PyTorch group 0(default_pg))" in text
    assert "rank 37 on gpu005 called 20584 last; 63 ranks waited in it (20585)" in text


def test_ranks_that_called_different_collectives_are_told_with_both() -> None:
    lines = [told(FORMS["2.5"], rank, 20585) for rank in range(RANKS)]
    lines += [
        told(CAUGHT.replace("{name}", "BROADCAST") if rank == 9 else CAUGHT, rank, 0) for rank in range(RANKS)
    ]
    (one,) = read(lines).behind
    assert one.verdict == "mixed"
    assert dict(one.mixed)["BROADCAST"] == (9,)
    assert len(dict(one.mixed)["ALLREDUCE"]) == 63


def test_a_rank_that_started_and_told_nothing_is_named_with_its_host() -> None:
    (one,) = read(told(FORMS["2.5"], rank, 20585) for rank in range(RANKS) if rank != 11).behind
    assert (one.verdict, one.silent) == ("silent", ((11, host_of(11)),))


def test_where_all_had_called_it_no_rank_is_blamed() -> None:
    (one,) = read(told(FORMS["2.5"], rank, 20585 + rank % 3) for rank in range(RANKS)).behind
    assert (one.verdict, one.ranks, one.waiting) == ("network", (), 64)


def test_groups_of_ranks_are_judged_apart_by_the_rank_of_the_job() -> None:
    tensor = FORMS["2.5"].replace(
        "PG ID 0 PG GUID 0(default_pg) Rank {rank}", "PG ID 5 PG GUID 22(TP) Rank {within}"
    )
    lines = [
        told(tensor.replace("{within}", str(rank - 8)), rank, 20585 - (rank == 10)) for rank in range(8, 16)
    ]
    (one,) = read(lines).behind
    assert (one.group, [(at.rank, at.host) for at in one.ranks]) == ("22(TP)", [(10, "gpu002")])


def test_what_never_was_enqueued_is_before_everything() -> None:
    (one,) = read([told(FORMS["2.5"], 0, 20585), told(FORMS["2.5"], 1, -1, -1)]).behind
    assert [(at.rank, at.called) for at in one.ranks] == [(1, -1)]


def test_a_number_that_was_never_set_is_not_believed() -> None:
    line = told(FORMS["2.3"], 2, 20585, 76280750235782912)
    (one,) = read([line, told(FORMS["2.3"], 3, 20584)]).behind
    assert [at.rank for at in one.ranks] == [3]


def test_one_rank_alone_is_nothing_to_compare() -> None:
    text = told(FORMS["2.5"], 0, 20585)
    assert diagnose([("a", io.BytesIO(text.encode()))]).behind == ()


def test_ranks_that_pytorch_names_itself_are_kept() -> None:
    lines = [
        "\t - To our best knowledge, ranks [3, 5] are the lagging ranks that caused this timeout. They",
        "\t   - [9] finished collective #12, but didn't join collective #13 (count from 1)",
        "\t   - [7] joined but didn't finish collective #13 (count from 1)",
    ]
    assert read(lines).named == (3, 5, 9)


def test_a_launcher_that_counts_within_a_node_gives_no_rank() -> None:
    lines = [
        f"[default{rank % 8}]:" + told(FORMS["2.5"], rank, 20585 - (rank == 37)) for rank in range(RANKS)
    ]
    (one,) = read(lines).behind
    assert [at.rank for at in one.ranks] == [37]


@given(st.dictionaries(st.integers(0, 63), st.integers(-1, 40), min_size=2), st.integers(0, 40))
@settings(max_examples=50, deadline=None)
def test_exactly_the_ranks_below_the_collective_that_timed_out_are_behind(
    called: dict[int, int], work: int
) -> None:
    form = FORMS["2.5"].replace("{work}", str(work))
    text = "\n".join(told(form, rank, last, last - 1) for rank, last in called.items())
    found = diagnose([("a", io.BytesIO(text.encode()))]).behind
    assert {at.rank for one in found for at in one.ranks} == {r for r, last in called.items() if last < work}
