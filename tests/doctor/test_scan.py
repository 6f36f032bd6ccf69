"""Logs are streamed: what is found in them, what is not believed, and what is never kept."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slurmwright.catalogue.log_signs import log_signs
from slurmwright.doctor.scan import BLOCK, Hit, printable, scan

FATAL = "fatal: can't stat gres.conf file /dev/nvidia7: No such file or directory"


def _scan(text: str | bytes, source: str = "daemon") -> tuple[Hit, ...]:
    raw = text if isinstance(text, bytes) else text.encode()
    return scan(io.BytesIO(raw), "slurmd.log", [source])  # type: ignore[list-item]


@pytest.mark.parametrize(
    "head",
    [
        "",
        "[2026-11-02T10:00:00.123] ",
        "slurmd: ",
        "Nov  2 10:00:00 gpu017 slurmd[4242]: slurmd: ",
        "2026-11-02T10:00:00.123456+00:00 gpu017 slurmd[4242]: ",
        "[2026-11-02T10:00:00] [88.batch] ",
    ],
)
def test_a_line_is_found_behind_the_times_and_names_of_every_kind_of_log(head: str) -> None:
    (hit,) = _scan(f"first\n{head}{FATAL}\nlast\n")
    assert (hit.sign, hit.line, hit.part("file")) == ("gpu-file-missing", 2, "/dev/nvidia7")


def test_words_within_a_message_are_not_taken_for_one() -> None:
    """A user gives a job any name."""
    assert _scan(f"[2026-11-02T10:00:00] launching job named x {FATAL}\n") == ()


def test_what_a_job_prints_is_no_word_of_a_daemon() -> None:
    assert _scan(f"{FATAL}\n", "job") == ()


def test_a_daemon_that_started_afterwards_has_overcome_what_hindered_it() -> None:
    assert _scan(f"{FATAL}\nslurmd started on Mon, 02 Nov 2026\n") == ()
    assert len(_scan(f"{FATAL}\nslurmd started on Mon, 02 Nov 2026\n{FATAL}\n")) == 1


def test_of_many_equal_lines_a_few_are_kept_and_all_are_counted() -> None:
    hits = _scan("error: Munge decode failed: Expired credential\n" * 5000)
    assert len(hits) == 8
    assert sum(hit.count for hit in hits) == 5000


class _Endless(io.RawIOBase):
    """`size` bytes that are never in memory at once; some lines say something."""

    def __init__(self, size: int, line: bytes) -> None:
        self.left, self.chunk = size, line * (BLOCK // len(line))

    def read(self, size: int = -1) -> bytes:
        data = self.chunk[: min(self.left, size if size >= 0 else self.left)]
        self.left -= len(data)
        return data


@pytest.mark.parametrize(
    "line",
    [b"x" * 99 + b"\n", b"\0" * 100, b"error: Expired credential\n" + b"y" * 5000],
    ids=["lines", "no-end", "hits"],
)
def test_memory_does_not_grow_with_the_log(line: bytes) -> None:
    def peak(size: int) -> int:
        stream: BinaryIO = _Endless(size, line)  # type: ignore[assignment]
        tracemalloc.start()
        scan(stream, "slurmd.log", ["daemon"])
        try:
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    # A line without an end is cut, so that the larger of the two still fits a fixed bound.
    assert peak(48 * BLOCK) < 24 * BLOCK


@given(st.binary(max_size=400))
def test_whatever_a_log_holds_is_read_and_what_is_shown_is_printable(noise: bytes) -> None:
    for hit in _scan(noise + b"\nerror: Unable to open logfile `/x\x1b[2J': Permission denied" + noise):
        assert hit.text.isprintable()


def test_control_characters_do_not_reach_a_terminal() -> None:
    assert "\x1b" not in printable("a\x1b]0;owned\x07b\x9b31m\u202e")


def test_every_sign_has_a_pattern_that_compiles_and_a_text_that_a_line_of_it_holds() -> None:
    for sign in log_signs():
        assert sign.fit(b"nothing at all like this") is None or sign.level, sign.name


def test_a_file_of_a_host_that_is_only_noise_is_no_finding(tmp_path: Path) -> None:
    from slurmwright.doctor.judge import judge
    from slurmwright.doctor.reading import read_hosts

    for name in (
        "slurmd.log",
        "journal.txt",
        "dmesg.txt",
        "scontrol_show_node.txt",
        "slurmd_-C.txt",
        "slurm.conf",
    ):
        (tmp_path / name).write_bytes(bytes(range(256)) * 50)
    assert judge(read_hosts(tmp_path)) == ()
