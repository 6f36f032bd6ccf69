"""A running job to what its processes really see: verify's probe in a step of it, against what Slurm gave.

`scontrol show job -d` has the GPUs of each node as Slurm counts them (IDX), the hardware's map says which
device files those are, and only opening them tells what the job can use. The step is the user's own, as Slurm
lets nobody else start one in a job, root neither; `--overlap` takes nothing from the job.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slurmwright.core.errors import InputError
from slurmwright.core.hosts import expand, fold
from slurmwright.core.outside_job import OUTSIDE_JOB
from slurmwright.discover.collect import Collected, collect
from slurmwright.discover.ssh import Reader
from slurmwright.doctor.host import Host
from slurmwright.doctor.told import Told
from slurmwright.topology.cpus import parse_cpus
from slurmwright.verify.documents import Document, read_documents
from slurmwright.verify.expect import ExpectedGpu, ExpectedNode
from slurmwright.verify.reached import opened, visible
from slurmwright.verify.scripts import probe_script

_USER = re.compile(r"\bUserId=([A-Za-z_][\w.-]{0,31}\$?)\(\d+\)")
_GIVEN = re.compile(r"\bNodes=(\S+)\s+CPU_IDs=(\S*)\s+Mem=\S+\s+GRES=(\S*)")
_GPU = re.compile(r"\bgpu(?::[\w.-]+)?:\d{1,4}\(IDX:((?:\d{1,4}[,-]?){1,64})\)")
_END, _LIMIT_S = "END_OF_PROBES", 60


@dataclass(frozen=True)
class Running:
    """A job that runs: its user, and node → Slurm's indexes of the GPUs that it has there."""

    number: str
    user: str
    gpus: Mapping[str, tuple[int, ...]]


def running(hosts: Sequence[Host], number: str) -> Running | None:
    """What a controller that knows the job tells; None where it does not run, or has parts of GPUs."""
    text = next((text for host in hosts if (text := host.text("scontrol_show_job.txt"))), "")
    user = _USER.search(text)
    if "JobState=RUNNING" not in text or not user or re.search(r"GRES=\S*\b(shard|mps):", text):
        return None
    gpus: dict[str, tuple[int, ...]] = {}
    for nodes, _, gres in _GIVEN.findall(text):
        try:
            given = tuple(index for part in _GPU.findall(gres) for index in parse_cpus(part))
            gpus.update(dict.fromkeys(expand(nodes), given))
        except (InputError, ValueError):
            return None
    return Running(number, user[1], gpus) if gpus else None


def script(job: Running) -> str:
    """What runs on a controller: the step, as the user of the job."""
    count = len(job.gpus)
    where = (f"--jobid={job.number}", "--overlap", f"--nodes={count}", f"--nodelist={fold(job.gpus)}")
    tasks = (f"--ntasks={count}", "--ntasks-per-node=1", "--immediate=30")
    step = ("timeout", str(_LIMIT_S), "srun", "-Q", *where, *tasks, "sh", "-s", "--", "--lines", "doctor")
    line = shlex.join([*OUTSIDE_JOB, *step, "--smi-limit", "0"])
    user = shlex.quote(job.user)
    return (
        "as_user() {\n"
        f'if [ "$(id -un)" = {user} ]; then "$@"; elif [ "$(id -u)" = 0 ]; then runuser -u {user} -- "$@"; '
        f'else sudo -n -u {user} -- "$@"; fi\n}}\n'
        "cd /tmp\nprintf '@@slurmwright begin probe\\n'\n"
        f"as_user {line} 2>&1 <<'{_END}'\n{probe_script()}\n{_END}\n"
        "printf '\\n@@slurmwright end probe 0\\n@@slurmwright done\\n'\n"
    )


def probed(
    job: Running,
    shapes: Mapping[str, ExpectedNode],
    controllers: Sequence[str],
    reader: Reader,
    ended: Callable[[Collected], None] = lambda _: None,
) -> tuple[tuple[str, Told], ...]:
    """The step through the first controller that answers, and what is wrong on each node."""
    text = why = ""
    for controller in controllers:
        (done,) = collect([controller], reader, 1, ended, script(job))
        text, why = done.sections.get("probe", ""), done.error
        if text:
            break
    seen = read_documents(text)
    said = [line for line in text.splitlines() if line.strip() and not line.startswith("@probe")]
    silent = sorted(job.gpus.keys() - {one.node for one in seen})
    found = [(one.node, told) for one in seen for told in judge_node(job, shapes.get(one.node), one)]
    if silent:
        reason = why or (said[-1][:200] if said else "the step gave no answer")
        text = f"job {job.number} could not be looked into on {fold(silent)}: {reason}"
        found.append(("", Told("DR099", text, nodes=tuple(silent))))
    return tuple(found)


def judge_node(job: Running, shape: ExpectedNode | None, seen: Document) -> Iterator[Told]:
    """One node of the job: its GPUs, and what CUDA is told of. A node with GPUs of several types is left out:
    Slurm counts them in the order of its Gres line."""
    given = job.gpus.get(seen.node)
    if given is None or shape is None or len(shape.gpu_types) > 1:
        return
    own = _own(shape, given)
    sight = opened(shape, seen.data, stand_ins=True)
    mine = f"job {job.number} was given {_labels(own)}"
    more = [gpu.label for gpu in sight.gpus if gpu not in own] + list(sight.others)
    if more:
        yield Told("DR081", f"{mine} and can open {', '.join(more)} too: nothing confines it to its own")
    less = [gpu for gpu in own if gpu not in sight.gpus]
    if less:
        yield Told("DR066", f"{mine} and cannot open {_labels(less)}")
    words = visible(seen.data)
    if not more and not less and len(words) != len(own) and (words or own):
        named = ",".join(words)[:80] or "nothing"
        yield Told("DR067", f"{mine}, and CUDA_VISIBLE_DEVICES there is {named}")


def _own(shape: ExpectedNode, given: Sequence[int]) -> tuple[ExpectedGpu, ...]:
    found = (shape.gpu_of_index(index) for index in given)
    return tuple(gpu for gpu in found if gpu is not None)


def _labels(gpus: Sequence[ExpectedGpu]) -> str:
    return ", ".join(gpu.label for gpu in gpus) or "no GPU"
