"""`slurmwright nccl log` as a person or a program calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slurmwright.cli.nccl import nccl
from slurmwright.core.errors import InputError

DEAD = (
    "[2026-12-03 10:01:07] gpu007:4001:4101 [1] init.cc:712 NCCL WARN Duplicate GPU detected : rank 9 and "
    "rank 8 both on CUDA device 1b000"
)
GONE = (
    "gpu001:4000:4100 [0] misc/socket.cc:58 NCCL WARN socketProgress: Connection closed by remote peer x<1>"
)


def call(*args: str, text: str | None = None) -> Result:
    return CliRunner().invoke(nccl, ["log", *args], input=text, catch_exceptions=False)


def test_a_person_reads_cause_line_and_fix_before_what_followed(tmp_path: Path) -> None:
    file = tmp_path / "job"
    file.write_text(f"{GONE}\n{DEAD}\n", encoding="utf-8")
    done = call(str(file))
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "first cause duplicate-gpu  on gpu007"
    assert f"  seen: {file}:2: {DEAD}" in lines
    assert any(line.startswith("  fix: one GPU for each task") for line in lines)
    assert "followed peer-closed  1 lines on gpu001" in lines


def test_a_program_reads_the_same(tmp_path: Path) -> None:
    file = tmp_path / "job"
    file.write_text(f"{DEAD}\n", encoding="utf-8")
    document = json.loads(call(str(file), "--format", "json").stdout)
    assert document["format"] == "slurmwright/nccl-log/1"
    assert (document["first"]["fault"], document["first"]["host"], document["first"]["time"]) == (
        "duplicate-gpu",
        "gpu007",
        "12-03 10:01:07",
    )


def test_clean_logs_end_with_0_and_nothing_known() -> None:
    done = call("-", text="gpu001:1:2 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\n")
    assert (done.exit_code, done.stdout) == (0, "-: 0.0 MB: nothing known.\n")


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not there"):
        call(str(tmp_path / "gone"))
    with pytest.raises(InputError, match="is a folder"):
        call(str(tmp_path))
