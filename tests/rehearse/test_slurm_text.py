"""What Slurm prints is read the same from 22.05, 24.11 and 26.05, and no text makes a reader fail."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slurmwright.rehearse import slurm_text
from slurmwright.rehearse.slurm_text import (
    JobShare,
    NodeState,
    error_lines,
    expand_files,
    first_fatal,
    gpu_counts,
    pairs,
    read_gres,
    read_hardware,
    read_jobs,
    read_nodes,
    read_running,
    shared_count,
)

Capture = Callable[[str, str], str]
all_releases = pytest.mark.parametrize("release", ["22.05", "24.11", "26.05"])


def state(words: str) -> NodeState:
    return read_nodes(f"NodeName=gpu1 State={words} Sockets=2\n")[0]


# -- nodes ------------------------------------------------------------------------------------------------


@all_releases
def test_a_node_is_read_with_its_shape_and_gpus(capture: Capture, release: str) -> None:
    node = read_nodes(capture(release, "show_node.txt"))[0]
    assert (node.name, node.state, node.reason) == ("gpu001", "MIXED", "")
    assert (node.sockets, node.cores, node.threads, node.cpus) == (2, 56, 2, 224)
    assert node.gpus == (("h100", 8),)


@all_releases
def test_every_node_is_read(capture: Capture, release: str) -> None:
    nodes = read_nodes(capture(release, "show_node.txt"))
    assert [node.name for node in nodes] == ["gpu001", "gpu002", "gpu003", "gpu004"]


@all_releases
def test_a_reason_is_free_text_and_changes_nothing_else(capture: Capture, release: str) -> None:
    node = read_nodes(capture(release, "show_node.txt"))[1]
    assert node.reason == "State=IDLE is a lie, fan 3 Sockets=9 broken"
    assert (node.state, node.sockets) == ("IDLE+DRAIN", 2)


def test_a_reason_ends_before_the_comment_that_follows_it(capture: Capture) -> None:
    node = read_nodes(capture("22.05", "show_node.txt"))[2]
    assert (node.state, node.reason) == ("DOWN", "rack power")


@all_releases
def test_a_node_with_too_few_gpus_is_refused_and_says_why(capture: Capture, release: str) -> None:
    node = read_nodes(capture(release, "too_few_gpus_node.txt"))[0]
    assert node.reason == "gres/gpu count reported lower than configured (4 < 8)"
    assert node.gpus == (("h100", 4),)
    assert node.refused
    assert not node.idle


def test_a_reason_with_quotes_and_brackets_is_kept_whole(capture: Capture) -> None:
    node = read_nodes(capture("24.11", "wrong_cores_node.txt"))[0]
    assert node.reason == (
        "gres/gpu GRES core specification 0-55 for node gpu001 doesn't match socket boundaries. "
        "(Socket 1 is cores 48-95)"
    )
    assert node.gpus == (("", 4),)


def test_a_reason_that_nobody_signed_reaches_to_the_end_of_the_line() -> None:
    assert read_nodes("NodeName=a State=DOWN Reason=Not responding\n")[0].reason == "Not responding"
    assert read_nodes("NodeName=a State=DOWN Reason=(null)\n")[0].reason == ""


@pytest.mark.parametrize(
    ("words", "answered", "idle"),
    [
        ("IDLE", True, True),
        ("IDLE+CLOUD", True, True),
        ("IDLE+DYNAMIC_NORM", True, True),
        ("IDLE+DRAIN", True, False),
        ("IDLE+COMPLETING", True, False),
        ("IDLE+INVALID_REG", True, False),
        ("IDLE+DRAIN+DYNAMIC_NORM", True, False),
        ("IDLE+CLOUD+POWERED_DOWN", False, False),
        ("IDLE+NOT_RESPONDING", False, False),
        ("IDLE*", False, False),
        ("MIXED", True, False),
        ("UNKNOWN", False, False),
        ("UNKNOWN+NOT_RESPONDING", False, False),
        ("UNKNOWN+DRAIN+INVALID_REG", False, False),
        ("DOWN", False, False),
        ("DOWN*+DRAIN", False, False),
        ("FUTURE", False, False),
        ("", True, False),
    ],
)
def test_the_words_of_a_state(words: str, answered: bool, idle: bool) -> None:
    assert (state(words).answered, state(words).idle) == (answered, idle)


@pytest.mark.parametrize(
    ("words", "busy"),
    [("IDLE", False), ("MIXED+DRAIN", True), ("ALLOCATED", True), ("IDLE+COMPLETING", True)],
)
def test_a_node_is_busy_while_a_job_holds_it(words: str, busy: bool) -> None:
    assert state(words).busy is busy


@pytest.mark.parametrize(
    ("gres", "counts"),
    [
        ("gpu:h100:8(S:0-1)", [("h100", 8)]),
        ("gpu:8", [("", 8)]),
        ("gpu", [("", 1)]),
        ("gpu:a100", [("a100", 1)]),
        ("gpu:4090:8(S:0-1)", [("4090", 8)]),
        (
            "gpu:1g.10gb:7(S:0),gpu:nvidia_h100_80gb_hbm3:6(S:0-1)",
            [("1g.10gb", 7), ("nvidia_h100_80gb_hbm3", 6)],
        ),
        ("nic:2,gpu:2,shard:8(S:0,1)", [("", 2)]),
        ("mygpu:2", []),
        ("(null)", []),
        ("", []),
    ],
)
def test_gpus_are_counted_by_type(gres: str, counts: list[tuple[str, int]]) -> None:
    assert gpu_counts(gres) == tuple(counts)


# -- jobs -------------------------------------------------------------------------------------------------


@all_releases
def test_running_and_waiting_jobs_are_told_apart(capture: Capture, release: str) -> None:
    jobs = {job.id: job for job in read_jobs(capture(release, "show_job.txt"))}
    assert {number: job.state for number, job in jobs.items()} == {
        17: "CANCELLED",
        18: "CANCELLED",
        19: "RUNNING",
        20: "RUNNING",
        21: "RUNNING",
        22: "PENDING",
        23: "RUNNING",
        24: "RUNNING",
        25: "RUNNING",
    }
    assert jobs[22].reason.startswith("ReqNodeNotAvail,")
    assert jobs[22].shares == ()


@all_releases
def test_a_job_over_two_sockets_holds_cpus_of_both(capture: Capture, release: str) -> None:
    job = next(job for job in read_jobs(capture(release, "show_job.txt")) if job.id == 19)
    assert job.shares[0].cpu_ids == (0, 1, 112, 113)
    assert job.shares[0].memory_mb == 64
    assert len(job.shares[0].gpu_indexes) == 2


@all_releases
def test_what_a_user_wrote_is_no_share(capture: Capture, release: str) -> None:
    text = next(
        line for line in capture(release, "show_job.txt").splitlines() if line.startswith("JobId=19 ")
    )
    assert "Nodes=gpu9 CPU_IDs=3" in text
    assert [share.node for share in read_jobs(text)[0].shares] == ["gpu001"]


def test_a_job_on_unlike_nodes_has_one_share_for_each(capture: Capture) -> None:
    job = next(job for job in read_jobs(capture("22.05", "show_job.txt")) if job.id == 21)
    assert job.shares == (JobShare("gpu001", (114, 115), 64, (4,)), JobShare("gpu004", (0, 1), 64, (0,)))


def test_a_job_on_like_nodes_has_one_share_for_all(capture: Capture) -> None:
    job = next(job for job in read_jobs(capture("24.11", "show_job.txt")) if job.id == 21)
    assert job.shares == (JobShare("gpu[003-004]", (0, 1), 64, (0,)),)


@all_releases
def test_a_job_without_gpus_has_no_indexes(capture: Capture, release: str) -> None:
    job = next(job for job in read_jobs(capture(release, "show_job.txt")) if job.id == 23)
    assert [share.gpu_indexes for share in job.shares] == [()]


@all_releases
def test_the_whole_cluster_in_one_job(capture: Capture, release: str) -> None:
    (job,) = read_jobs(capture(release, "jobs_whole.txt"))
    assert job.shares == (JobShare("gpu[001-004]", tuple(range(224)), 2016000, tuple(range(8))),)


@pytest.mark.parametrize(
    ("gres", "indexes"),
    [
        ("gpu:h100:2(IDX:0,4)", (0, 4)),
        ("gpu:4090:3(IDX:0-1,7)", (0, 1, 7)),
        ("gpu:1(IDX:3)", (3,)),
        ("gpu:a100:2(IDX:0-1),gpu:h100:1(IDX:2)", (0, 1, 2)),
        ("nic:2(IDX:0-1),gpu:1(IDX:5)", (5,)),
        ("gpu:h100:2(CNT:2)", ()),
        ("gpu:h100:2", ()),
        ("(null)", ()),
    ],
)
def test_gpu_indexes_of_a_share(gres: str, indexes: tuple[int, ...]) -> None:
    (job,) = read_jobs(f"JobId=7 JobState=RUNNING Nodes=a CPU_IDs=0-1,4-5 Mem=8 GRES={gres} MinCPUsNode=1\n")
    assert job.shares == (JobShare("a", (0, 1, 4, 5), 8, indexes),)


@given(
    st.lists(st.tuples(st.integers(0, 500), st.integers(0, 20)), min_size=1, max_size=6),
    st.sets(st.integers(0, 15), max_size=8),
    st.sampled_from(["", "h100:", "4090:", "1g.10gb:"]),
    st.integers(0, 10**7),
)
def test_a_share_is_read_as_it_was_written(
    spans: list[tuple[int, int]], gpus: set[int], kind: str, memory: int
) -> None:
    ids = ",".join(f"{first}-{first + more}" if more else str(first) for first, more in spans)
    gres = f"gpu:{kind}{len(gpus)}(IDX:{','.join(map(str, sorted(gpus)))})" if gpus else ""
    (job,) = read_jobs(f"JobId=1 JobState=RUNNING   Nodes=a CPU_IDs={ids} Mem={memory} GRES={gres} ")
    cpus = {cpu for first, more in spans for cpu in range(first, first + more + 1)}
    assert job.shares == (JobShare("a", tuple(sorted(cpus)), memory, tuple(sorted(gpus))),)


# -- slurmd -----------------------------------------------------------------------------------------------


@all_releases
def test_slurmds_reading_of_gres_conf(capture: Capture, release: str) -> None:
    first, second = read_gres(capture(release, "slurmd_G.txt"))
    assert (first.type, first.count, first.files[-1]) == ("h100", 4, "/dev/nvidia3")
    assert first.cores == tuple(range(56))
    assert second.files == tuple(f"/dev/nvidia{number}" for number in (4, 5, 6, 7))
    assert second.cores == tuple(range(56, 112))


@all_releases
def test_a_list_of_device_names_and_ranges_is_expanded(capture: Capture, release: str) -> None:
    first, _ = read_gres(capture(release, "slurmd_G_list.txt"))
    assert first.files == tuple(f"/dev/nvidia{number}" for number in (0, 1, 2, 3))


def test_gpus_without_type_file_or_cores() -> None:
    (row,) = read_gres("slurmd: Gres Name=gpu Type=(null) Count=8 Index=0 ID=7696487 (null)\n")
    assert (row.type, row.count, row.files, row.cores) == ("", 8, (), None)


def test_other_resources_are_no_gpus() -> None:
    assert read_gres("slurmd: Gres Name=nic Count=2 File=/dev/a\nslurmd: Gres Name=gpux Count=1\n") == ()


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("/dev/nvidia0", ["/dev/nvidia0"]),
        ("/dev/nvidia[2,0-1]", ["/dev/nvidia2", "/dev/nvidia0", "/dev/nvidia1"]),
        ("/dev/a,/dev/b[0,2]", ["/dev/a", "/dev/b0", "/dev/b2"]),
        ("/dev/nvidia[0-1],/dev/nvidia3", ["/dev/nvidia0", "/dev/nvidia1", "/dev/nvidia3"]),
        ("/dev/gpu[0-1]/x", ["/dev/gpu0/x", "/dev/gpu1/x"]),
        ("/dev/nvidia[0-", ["/dev/nvidia[0-"]),
        ("", []),
    ],
)
def test_device_names(text: str, paths: list[str]) -> None:
    assert expand_files(text) == tuple(paths)


@all_releases
def test_what_slurmd_sees_of_the_machine(capture: Capture, release: str) -> None:
    seen = read_hardware(capture(release, "slurmd_C.txt"))
    assert {key: seen[key] for key in ("CPUs", "SocketsPerBoard", "CoresPerSocket", "ThreadsPerCore")} == {
        "CPUs": 224,
        "SocketsPerBoard": 2,
        "CoresPerSocket": 56,
        "ThreadsPerCore": 2,
    }
    assert "UpTime" not in seen


@all_releases
def test_what_slurmd_runs_with(capture: Capture, release: str) -> None:
    assert read_running(capture(release, "slurmd.log")) == {
        "CPUs": 224,
        "Boards": 1,
        "Sockets": 2,
        "Cores": 56,
        "Threads": 2,
    }


def test_a_slurmd_that_did_not_get_that_far_runs_with_nothing(capture: Capture) -> None:
    assert read_running(capture("24.11", "no_device.log")) == {}


# -- logs -------------------------------------------------------------------------------------------------


@all_releases
def test_errors_are_told_from_the_rest_without_stamp_and_daemon(capture: Capture, release: str) -> None:
    assert error_lines(capture(release, "no_device.log")) == (
        "error: Waiting for gres.conf file /dev/nvidia8",
        "fatal: can't stat gres.conf file /dev/nvidia8: No such file or directory",
    )
    assert error_lines(capture(release, "unknown_key.txt"))[0] == (
        "error: _parse_next_key: Parsing error at unrecognized key: GpuBinding"
    )


def test_a_line_that_only_speaks_of_errors_is_none() -> None:
    assert (
        error_lines("[2026-12-01T01:39:54.155] [1.batch] done (rc[0xf]:No error)\ndebug: no terror: x\n")
        == ()
    )


@all_releases
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("unknown_key.txt", "unrecognized key: GpuBinding"),
        ("not_a_setting.txt", 'slurm.conf line 19: "this is no setting"'),
        ("bad_value.txt", "Bad SelectTypeParameter: CR_Core_Memroy"),
        ("unknown_gres_key.log", "gres.conf line 1: "),
        ("no_device.log", "fatal: can't stat gres.conf file /dev/nvidia8"),
    ],
)
def test_the_line_that_says_why_a_daemon_did_not_start(
    capture: Capture, release: str, name: str, words: str
) -> None:
    assert words in first_fatal(error_lines(capture(release, name)))


def test_a_daemon_that_says_little_is_quoted_with_it() -> None:
    generic = "fatal: Unable to process configuration file"
    assert first_fatal([generic]) == generic
    assert first_fatal(["error: one", "error: two"]) == "error: two"
    assert first_fatal([]) == ""


# -- any text ---------------------------------------------------------------------------------------------

_KEYS = [
    "NodeName",
    "JobId",
    "State",
    "Reason",
    "Gres",
    "Gres Name",
    "Type",
    "Count",
    "File",
    "Cores",
    "Nodes",
]
_KEYS += ["CPU_IDs", "Mem", "GRES", "CPUs", "Boards"]
_VALUES = [
    "gpu",
    "gpu:",
    "(IDX:",
    ")",
    "[",
    "]",
    "-",
    ",",
    ":",
    "/",
    "0",
    "1",
    "9",
    "٣",
    "²",
    "h100",
    "(null)",
    "N/A",
]
_WORDS = st.sampled_from(
    [f"{key}=" for key in _KEYS] + _VALUES + ["error:", "fatal:", "slurmd:", "\n", "\u2028", ""]
)
anything = st.one_of(
    st.text(max_size=80), st.lists(_WORDS, max_size=25).map(" ".join), st.lists(_WORDS).map("".join)
)
READERS: tuple[Callable[[str], object], ...] = (
    pairs,
    read_nodes,
    read_jobs,
    read_gres,
    read_hardware,
    read_running,
    gpu_counts,
    shared_count,
    expand_files,
    error_lines,
)


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=150)
@given(text=anything)
@example("JobId=1 JobState=RUNNING  Nodes=a CPU_IDs=(null) Mem=1 GRES=gpu:1(IDX:3-1) ")
@example("JobId=1 JobState=RUNNING  Nodes=a CPU_IDs=0-99999999999 Mem=1 GRES=gpu:1(IDX:,-) ")
@example("Gres Name=gpu Type= Count=² File=/dev/nvidia[3-1,] Cores=0-")
@example("NodeName=a CPUs=² Boards=" + "9" * 5000)
@example("CPUs=" + "9" * 5000 + " Boards=1 Sockets=1 Cores=1 Threads=1 Memory=")
def test_no_text_makes_a_reader_fail(reader: Callable[[str], object], text: str) -> None:
    reader(text)


@given(
    st.dictionaries(
        st.sampled_from(["A", "Bc", "CPUs/Task", "MCS_label", "Req:S"]), st.text("ab0(): ", max_size=8)
    )
)
def test_pairs_are_read_as_they_were_written(written: dict[str, str]) -> None:
    line = " ".join(f"{key}={value}" for key, value in written.items())
    assert pairs(line) == {key: value.strip() for key, value in written.items()}


def test_of_a_repeated_key_the_first_counts() -> None:
    assert pairs("State=IDLE Reason=x State=DOWN") == {"State": "IDLE", "Reason": "x"}


def test_every_reader_of_the_module_is_tried_with_any_text() -> None:
    assert {name for name in vars(slurm_text) if name.startswith("read_")} <= {
        one.__name__ for one in READERS
    }


@pytest.mark.parametrize(
    ("gres", "shared"),
    [
        ("gpu:h100:8(S:0-1),shard:32(S:0-1)", ("shard", 32)),
        ("gpu:8,mps:800", ("mps", 800)),
        ("gpu:8,myshard:3", None),
        ("(null)", None),
    ],
)
def test_shares_of_all_gpus_are_counted(gres: str, shared: tuple[str, int] | None) -> None:
    assert shared_count(gres) == shared
