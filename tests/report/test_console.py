"""Results on a pipe are plain: no colour, no folding, no padding."""

from __future__ import annotations

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
