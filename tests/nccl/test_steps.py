"""Steps side by side: the script that runs them, with a stand-in for srun, and what is read back."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slurmwright.core.run import Local
from slurmwright.nccl.steps import Step, outputs, script


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH whose srun prints its arguments and NCCL's variables, then runs what it is given."""
    file = tmp_path / "srun"
    file.write_text(
        '#!/bin/sh\necho "$@"\nenv | grep ^NCCL_\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n'
    )
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return f"{tmp_path}:{os.environ['PATH']}"


def test_each_step_runs_on_its_nodes_with_its_variables_and_no_other(path: str) -> None:
    steps = [
        Step("a", ("n1", "n2"), 8, ("echo", "one"), {"NCCL_ALGO": "Ring"}),
        Step("b", ("n3",), 1, ("sh", "-c", "echo two >&2; exit 3")),
    ]
    done = Local().run(["sh", "-s"], stdin=script("7", steps), env={"PATH": path, "NCCL_PROTO": "LL"})
    found = outputs(done.out, steps)
    assert found["a"].out.splitlines()[1:] == ["NCCL_ALGO=Ring", "one"]
    assert "--jobid=7 --nodes=2 --nodelist=n[1-2] --ntasks=16 --ntasks-per-node=8" in found["a"].out
    assert (found["b"].code, found["b"].err, found["b"].out.count("\n")) == (3, "two", 0)


def test_a_step_past_its_limit_is_ended_and_the_others_are_kept(path: str) -> None:
    steps = [Step("slow", ("n1",), 1, ("sleep", "60"), limit_s=1), Step("fast", ("n2",), 1, ("echo", "done"))]
    found = outputs(Local().run(["sh", "-s"], stdin=script("7", steps), env={"PATH": path}).out, steps)
    assert found["slow"].timed_out
    assert (found["fast"].code, found["fast"].out.splitlines()[-1]) == (0, "done")


def test_a_program_on_standard_input_reaches_the_step(path: str) -> None:
    steps = [Step("a", ("n1",), 1, ("cat",), stdin="print('$HOME `x` \\\\ \"q\"')")]
    found = outputs(Local().run(["sh", "-s"], stdin=script("7", steps), env={"PATH": path}).out, steps)
    assert found["a"].out.splitlines()[1:] == ["print('$HOME `x` \\\\ \"q\"')"]


def test_a_step_that_was_cut_off_counts_as_timed_out() -> None:
    assert outputs("", [Step("a", ("n1",), 1, ())])["a"].timed_out


@given(st.text(alphabet="@nccl-step 0123oe \n", max_size=200))
@settings(max_examples=60)
def test_any_text_is_read(text: str) -> None:
    assert set(outputs(text, [Step("a", ("n1",), 1, ()), Step("b", ("n2",), 1, ())])) == {"a", "b"}
