"""Jobs with a /tmp of their own under real Slurm: what they write there is theirs and goes with them."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from slurmwright.rehearse.machine import Machine

pytestmark = pytest.mark.rehearsal

_CLUSTER = """\
name: own
slurm: {release: "SERIES"}
control: {controllers: [ctl1]}
nodes: [{hosts: "n[1-2]", type: dgx-h100}]
scratch: {base: /local/scratch, private_tmp: true}
partitions: [{name: p, nodes: all, default: true}]
"""
_KEPT = "/local/scratch/private"


@pytest.fixture(params=["22.05", "24.11", "26.05"])
def machine(request: pytest.FixtureRequest, running: Callable[[str, str], Machine]) -> Machine:
    """Two nodes that are up."""
    return running(_CLUSTER, request.param)


def _submit(machine: Machine, *options: str, script: str) -> str:
    result = machine.ctl(
        "sbatch", "--parsable", "--chdir=/", "--output=/dev/null", *options, "--wrap", script
    )
    assert result.ok, result.err
    return result.out.strip()


def _until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def _on(machine: Machine, node: str, script: str) -> str:
    return machine.on_node(node, ["sh", "-c", script]).out


def test_what_a_job_writes_is_its_own_and_goes_with_it(machine: Machine) -> None:
    write = "echo mine > /tmp/mark; echo mine > /dev/shm/mark; sleep 60"
    job = _submit(machine, "--nodelist=n1", "--mem=100", script=write)
    find = f"find {_KEPT} -path '*/{job}/*' -name mark -exec cat {{}} +"
    assert _until(lambda: _on(machine, "n1", find) == "mine\n")
    assert _on(machine, "n1", "ls /tmp/mark /dev/shm/mark 2>/dev/null") == ""

    answer = "/var/spool/slurmd/answer"
    look = f"(ls -A /tmp /dev/shm; ls /etc/slurm; hostname) > {answer}"
    _submit(machine, "--nodelist=n1", "--mem=100", script=look)
    assert _until(lambda: "n1" in _on(machine, "n1", f"cat {answer}"))
    assert "mark" not in _on(machine, "n1", f"cat {answer}")

    machine.ctl("scancel", job)
    assert _until(lambda: _on(machine, "n1", f"find {_KEPT} -path '*/{job}*'") == "")


def test_a_job_of_several_nodes_starts_on_each(machine: Machine) -> None:
    job = _submit(machine, "--nodes=2", "--exclusive", script="sleep 60")
    kept = f"find {_KEPT} -name {job}"
    assert _until(lambda: all(_on(machine, node, kept) for node in ("n1", "n2")))
    shown = machine.ctl("scontrol", "show", "job", job, "-o").out
    assert "JobState=RUNNING" in shown
    assert "ns base mount" not in "".join(machine.node_log(host) for host in machine.cast.compute)
