"""Command lines and scripts of a verification: what goes to srun, sbatch and salloc.

Nothing waits for ever: srun and salloc go away when they are not let in (`--immediate`), every job has a time
limit of minutes, and all of them share one name by which they are cancelled at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

from slurmwright.core.hosts import fold
from slurmwright.core.outside_job import OUTSIDE_JOB
from slurmwright.verify.launches import BATCH, BESIDE_MB, INTERACTIVE, MEMORY_MB, SSH
from slurmwright.verify.scripts import probe_script
from slurmwright.verify.wanted import Wanted

_PROBE = "END_OF_PROBES"


def minutes(wanted: Wanted) -> int:
    """The time limit of each job, as Slurm counts it."""
    return max(1, -(-wanted.timeout // 60)) + 1


def common(name: str, nodes: Sequence[str], partition: str, wanted: Wanted) -> tuple[str, ...]:
    """Options of every job."""
    where = (f"--nodelist={fold(nodes)}", f"--partition={partition}", f"--time={minutes(wanted)}")
    return (f"--job-name={name}", *where, *wanted.options)


def srun(
    name: str, nodes: Sequence[str], partition: str, wanted: Wanted, options: Sequence[str]
) -> list[str]:
    """A job of its own that runs its standard input in a shell of each task."""
    own = (*OUTSIDE_JOB, "srun", "-Q", f"--immediate={wanted.timeout}", "--kill-on-bad-exit=0")
    return [*own, *common(name, nodes, partition, wanted), *options, "sh", "-s", "--"]


def array(name: str, nodes: Sequence[str], partition: str, wanted: Wanted, count: int) -> list[str]:
    """Jobs of one GPU on each node, which run at the same time and wait to be cancelled."""
    own = (
        *OUTSIDE_JOB,
        "sbatch",
        "--parsable",
        f"--array=0-{count - 1}",
        "--output=/dev/null",
        "--error=/dev/null",
    )
    size = (f"--nodes={len(nodes)}", "--ntasks-per-node=1", "--cpus-per-task=1", f"--mem={BESIDE_MB}M")
    return [*own, *common(name, nodes, partition, wanted), *size, "--gpus-per-node=1"]


def batch_script(secret: str, seconds: int) -> str:
    """The probe, its document left where a step of the same job finds it, and a wait."""
    return (
        f"#!/bin/sh\ncd /tmp\numask 077\nset -- --lines {BATCH} --smi-limit 0\n(\n{probe_script()}\n) "
        f'</dev/null >"/tmp/slurmwright-{secret}-$SLURM_JOB_ID"\nsleep {seconds}\n'
    )


def step(job: str, nodes: int) -> list[str]:
    """A step in one of those jobs, on all of its nodes."""
    size = (f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1", "--cpus-per-task=1")
    return [
        *OUTSIDE_JOB,
        "srun",
        "-Q",
        f"--jobid={job}",
        "--overlap",
        *size,
        "--gpus-per-node=1",
        "sh",
        "-s",
        "--",
    ]


def step_script(secret: str) -> str:
    """The probe, then the document of the batch script where there is one."""
    left = f'"/tmp/slurmwright-{secret}-$SLURM_JOB_ID"'
    return f"{probe_script()}\ncat {left} 2>/dev/null\nrm -f {left}\n"


def salloc(name: str, node: str, partition: str, wanted: Wanted) -> list[str]:
    """A job of one GPU whose command runs here."""
    own = (*OUTSIDE_JOB, "salloc", "-Q", f"--immediate={wanted.timeout}")
    size = ("--nodes=1", "--ntasks=1", "--cpus-per-task=1", f"--mem={MEMORY_MB}M", "--gpus-per-node=1")
    return [*own, *common(name, [node], partition, wanted), *size, "sh", "-s"]


def salloc_script(node: str, ssh: bool) -> str:
    """An interactive step, as salloc starts it for a shell, and a session over SSH into the same job."""
    tell = f"probe() {{ cat <<'{_PROBE}'\n{probe_script()}\n{_PROBE}\n}}\n"
    inside = f"probe | srun -Q --interactive --preserve-env sh -s -- --lines {INTERACTIVE} --smi-limit 0\n"
    session = f"probe | {ssh_line(node)} sh -s -- --lines {SSH} --smi-limit 0\n"
    return tell + inside + (session if ssh else "")


def ssh_line(node: str) -> str:
    """Never asks anything."""
    return f"ssh -o BatchMode=yes -o ConnectTimeout=20 {node}"
