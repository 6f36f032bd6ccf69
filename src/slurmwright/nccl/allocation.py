"""One exclusive allocation of Slurm's, in which steps run until it is given back.

`salloc --no-shell` returns with the allocation held, so that every measurement has the same nodes and nobody
beside it. Use as a context manager: it is given back whatever happens.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slurmwright.core.errors import SlurmwrightError
from slurmwright.core.hosts import fold
from slurmwright.core.outside_job import OUTSIDE_JOB
from slurmwright.core.run import Runner
from slurmwright.nccl.steps import Done, Step, outputs, script

_GRANTED = re.compile(r"Granted job allocation (\d+)")
_GRACE_S = 60


@dataclass(frozen=True)
class Place:
    """Where and as whom jobs are submitted; "" is Slurm's own choice."""

    partition: str = ""
    account: str = ""
    qos: str = ""
    reservation: str = ""
    wait_s: int = 120

    @property
    def options(self) -> tuple[str, ...]:
        given = {
            "partition": self.partition,
            "account": self.account,
            "qos": self.qos,
            "reservation": self.reservation,
        }
        return tuple(f"--{name}={value}" for name, value in given.items() if value)


class Allocation:
    """Nodes for us alone, with all their GPUs."""

    def __init__(
        self, runner: Runner, nodes: Sequence[str], gpus: int, place: Place, minutes: int, name: str
    ) -> None:
        self.runner, self.nodes, self.job = runner, tuple(nodes), ""
        self._argv = [
            *OUTSIDE_JOB,
            "salloc",
            "--no-shell",
            f"--immediate={place.wait_s}",
            f"--job-name={name}",
            f"--nodes={len(nodes)}",
            f"--nodelist={fold(nodes)}",
            "--exclusive",
            "--mem=0",
            f"--time={minutes}",
            *((f"--gpus-per-node={gpus}",) if gpus else ()),
            *place.options,
        ]
        self._limit = place.wait_s + _GRACE_S

    def __enter__(self) -> Allocation:
        done = self.runner.run(self._argv, limit_s=self._limit)
        found = _GRANTED.search(done.err + done.out)
        self.job = found[1] if found else ""
        if not done.ok or not self.job:
            self.close()
            raise SlurmwrightError(
                f"{len(self.nodes)} nodes ({fold(self.nodes)}) were not given: {done.last_line}; "
                "name idle nodes with --nodes, or wait longer with --wait"
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give the nodes back."""
        job, self.job = self.job, ""
        if job:
            self.runner.run(["scancel", job], limit_s=_GRACE_S)

    def run(self, steps: Sequence[Step]) -> Mapping[str, Done]:
        """Run these at the same time; they must not share nodes."""
        limit = max(step.limit_s for step in steps) + _GRACE_S
        done = self.runner.run(["sh", "-s"], stdin=script(self.job, steps), limit_s=limit)
        return outputs(done.out, steps)


def idle_nodes(runner: Runner, wanted: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Which of these nodes are idle, and the state of each that is not."""
    done = runner.run(("sinfo", "-h", "-N", "-a", "-o", "%N|%T"), limit_s=_GRACE_S)
    if not done.ok:
        raise SlurmwrightError(f"slurmctld cannot be asked for its nodes: {done.last_line}")
    states = dict(line.split("|", 1) for line in done.out.splitlines() if "|" in line)
    free = tuple(node for node in wanted if states.get(node) in ("idle", "reserved"))
    return free, {node: states.get(node, "not known to slurmctld") for node in wanted if node not in free}
