"""Results on a pipe are plain: no colour, no folding, no padding."""

from __future__ import annotations

import io
import sys

import pytest
from rich.table import Table
from rich.text import Text

from slurmwright.report.console import print_result


def test_a_pipe_gets_whole_lines_without_colour_or_padding(capsys: pytest.CaptureFixture[str]) -> None:
    grid = Table.grid(padding=(0, 2))
    long = "word " * 200 + "end"
    grid.add_row(Text("a", style="bold red"), Text(long))
    grid.add_row(Text("b"), Text("short"))
    print_result(grid)
    assert capsys.readouterr().out == f"a  {long}\nb  short\n"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_a_stream_without_lines_and_boxes_gets_plain_characters(
    monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    table = Table("type", "GPUs")
    table.add_row("dgx-h100", "8")
    print_result(table)
    stream.seek(0)
    assert stream.read().splitlines()[1] == "| type     | GPUs |"
