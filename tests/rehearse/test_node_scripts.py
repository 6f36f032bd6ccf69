"""The scripts of the nodes under a real slurmd and slurmctld; only the GPUs are stand-ins."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from slurmwright.rehearse.machine import Machine

pytestmark = pytest.mark.rehearsal

_CLUSTER = """\
name: scripts
slurm: {release: "SERIES"}
control: {controllers: [ctl1]}
nodes: [{hosts: "n[1-2]", type: dgx-h100}]
scratch: {base: /local/scratch}
containers: {runtime: enroot-pyxis}
partitions: [{name: p, nodes: all, default: true}]
"""


@pytest.fixture(params=["22.05", "24.11", "26.05"])
def machine(request: pytest.FixtureRequest, running: Callable[[str, str], Machine]) -> Machine:
    return running(_CLUSTER, request.param)


def _sh(machine: Machine, node: str, script: str) -> str:
    return machine.on_node(node, ["sh", "-c", script], limit_s=90).out


def _until(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + 60
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def _node(machine: Machine, node: str) -> str:
    return machine.ctl("scontrol", "show", "node", node, "-o").out


def test_a_node_that_lost_a_gpu_is_drained_with_the_reason_and_no_other(machine: Machine) -> None:
    check = "SLURMD_NODENAME={0} /etc/slurm/health_check.sh; echo $?"
    assert _sh(machine, "n1", check.format("n1")) == "0\n"
    assert "DRAIN" not in _node(machine, "n1")

    # Both nodes see the same device folder here, so only n1 is asked.
    _sh(machine, "n1", "rm /dev/nvidia5")
    assert _sh(machine, "n1", check.format("n1")) == "0\n"
    shown = _node(machine, "n1")
    assert "+DRAIN" in shown
    assert "Reason=health check: no GPU device /dev/nvidia5 [" in shown
    assert "DRAIN" not in _node(machine, "n2")

    machine.ctl("scontrol", "update", "NodeName=n1", "Reason=disk swap")
    assert _sh(machine, "n1", check.format("n1")) == "0\n"
    assert "Reason=disk swap [" in _node(machine, "n1")


def test_prolog_and_epilog_make_and_remove_what_a_job_has_on_a_node(machine: Machine) -> None:
    argv = ("sbatch", "--parsable", "--chdir=/", "--output=/dev/null", "--nodelist=n1", "--mem=100")
    job = machine.ctl(*argv, "--wrap", "touch /local/scratch/job-$SLURM_JOB_ID/data; sleep 60").out.strip()
    folder = f"/local/scratch/job-{job}"
    assert _until(lambda: "data" in _sh(machine, "n1", f"ls {folder}"))
    assert f"/run/slurmwright/jobs/0/{job}\n" in _sh(machine, "n1", "ls -d /run/slurmwright/jobs/*/*")

    machine.ctl("scancel", job)
    # A node is IDLE+COMPLETING while the epilog runs.
    gone = f"ls -d {folder} /run/slurmwright/jobs/0 /run/enroot/user-0 2>/dev/null"
    assert _until(lambda: _sh(machine, "n1", gone) == "")
    assert _until(lambda: "State=IDLE " in _node(machine, "n1"))
    assert _sh(machine, "n1", "ls -d /local/scratch/enroot/cache/user-0") != ""
    assert "DRAIN" not in _node(machine, "n1")
