"""Output of nccl-tests of several releases, and the traps in it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.nccl.results import read_json, read_output
from slurmwright.nccl.traps import traps

from .outputs import HEAD, NEW, OLD, foot, line, ranks, whole

GOOD = whole([line(1 << 30, 5400, 198.84, 372.8), line(1 << 33, 43000, 199.77, 374.56)])


def names(text: str, tasks: int = 16, limit: float | None = None) -> list[str]:
    return [trap.name for trap in traps(read_output(text), tasks, "all_reduce", limit)]


def test_rows_ranks_and_version_are_read() -> None:
    found = read_output(GOOD)
    assert (found.test, found.nccl, found.starts, found.out_of_bounds) == ("all_reduce", "2.27.7", 1, 0)
    assert [(row.size, row.type, row.busbw) for row in found.rows] == [
        (1 << 30, "float", 372.8),
        (1 << 33, "float", 374.56),
    ]
    assert [(rank.number, rank.host, rank.device) for rank in found.ranks[7:9]] == [
        (7, "gpu001", 7),
        (8, "gpu002", 0),
    ]


def test_the_peak_is_not_the_average() -> None:
    found = read_output(GOOD)
    assert (found.peak, found.average) == (374.56, 17.2)
    assert found.at(1 << 30) == 372.8


def test_a_release_without_root_and_with_error_is_read_by_its_header() -> None:
    text = (
        "# nThread 1 nGpus 1\n"
        + ranks(16)
        + OLD
        + line(1 << 30, 5400, 198.84, 372.8, "5e-07", old=True)
        + foot()
    )
    found = read_output(text)
    assert [(row.busbw, row.places[0].wrong) for row in found.rows] == [(372.8, 0)]


def test_a_collective_without_redop_and_root_is_read() -> None:
    row = (
        "  1073741824  268435456     float     5400.0  198.84  186.41     0   5400.0  198.84  186.41     0\n"
    )
    found = read_output(HEAD.format(test="all_gather") + ranks(16) + NEW + row + foot())
    assert [(one.busbw, len(one.places)) for one in found.rows] == [(186.41, 2)]


def test_columns_of_each_iteration_do_not_disturb() -> None:
    header = NEW.replace("#wrong", "#wrong  i_min  i_max  i_p99  i_cv%")
    cells = "  5400.0  198.84  372.80       0  5300.0  5500.0  5490.0  0.40"
    row = f"  1073741824  268435456  float  sum  -1{cells}{cells}\n"
    found = read_output(HEAD.format(test="all_reduce") + header + row + foot())
    assert [(one.busbw, one.places[1].algbw) for one in found.rows] == [(372.8, 198.84)]


def test_unchecked_results_are_not_wrong_ones() -> None:
    found = read_output(whole([line(1 << 30, 5400, 198.84, 372.8, "N/A")]))
    assert found.rows[0].places[0].wrong is None
    assert found.wrong == 0


def test_labels_of_srun_do_not_disturb() -> None:
    assert read_output("".join(f" 0: {row}\n" for row in GOOD.splitlines())).rows == read_output(GOOD).rows


def test_a_good_run_has_no_traps() -> None:
    assert names(GOOD, limit=720.0) == []


def test_a_build_without_mpi_is_told() -> None:
    alone = HEAD.format(test="all_reduce") + ranks(1) + NEW + line(1 << 30, 10, 99999, 0.0) + foot()
    assert names(alone * 16) == ["without-mpi"]
    assert names(alone) == ["without-mpi"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (whole([line(1 << 30, 5400, 198.84, 372.8, "3")]), "wrong-results"),
        (whole([line(1 << 30, 5400, 198.84, 372.8)], wrong=2), "wrong-results"),
        (GOOD.split("# Out of")[0], "cut-off"),
        (HEAD + ranks(16), "no-results"),
        (GOOD.replace("(GB/s)", "(GiB/s)"), "units"),
        (GOOD.replace("#  Rank 15", "#  Rang 15"), "ranks-missing"),
        (whole([line(1 << 30, 5400, 397.68, 372.8)]), "other-formula"),
        (GOOD + "gpu001: Test NCCL failure all_reduce.cu:44 'unhandled system error'\n", "failed"),
    ],
)
def test_each_trap_is_told(text: str, name: str) -> None:
    assert name in names(text.replace("gpu001: Test", "Test"))


def test_more_than_possible_is_told() -> None:
    assert names(GOOD, limit=300.0) == ["impossible"]


def test_the_document_of_j_is_read_without_its_environment() -> None:
    place = {"time": 5400.0, "alg_bw": 198.84, "bus_bw": 372.8, "nwrong": 0}
    data = {
        "env": ["TOKEN=secret"],
        "results": [
            {"size": 1 << 30, "count": 1 << 28, "type": "float", "out_of_place": place, "in_place": place}
        ],
        "out_of_bounds": {"count": 0, "okay": True},
        "average_bus_bandwidth": {"bandwidth": 17.2, "okay": "unchecked"},
        "errors": [],
    }
    found = read_json(json.dumps(data))
    assert (found.peak, found.out_of_bounds, found.average) == (372.8, 0, 17.2)
    assert "secret" not in repr(found)
    with pytest.raises(ValueError, match="no results"):
        read_json("{}")


SPEEDS = st.floats(0.01, 900)


@given(
    st.lists(st.tuples(st.integers(3, 35), st.floats(1, 99999), SPEEDS, SPEEDS), max_size=8), st.booleans()
)
@settings(max_examples=60)
def test_what_is_printed_is_read_again(rows: list[tuple[int, float, float, float]], old: bool) -> None:
    body = [line(1 << power, time, alg, bus, old=old) for power, time, alg, bus in rows]
    found = read_output(HEAD + ranks(16) + (OLD if old else NEW) + "".join(body) + foot())
    assert [(row.size, row.places[0].algbw, row.busbw) for row in found.rows] == [
        (1 << power, float(f"{alg:.2f}"), float(f"{bus:.2f}")) for power, _, alg, bus in rows
    ]


@given(st.text(alphabet="#size count busbwtime12.0\n \t()/GBRank:-", max_size=400))
@settings(max_examples=100)
def test_any_text_is_read(text: str) -> None:
    traps(read_output(NEW + text), 16, "all_reduce", 384.0)
