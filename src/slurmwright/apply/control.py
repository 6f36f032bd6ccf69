"""What apply asks slurmctld and tells it: who answers, who runs what, drain and resume.

What surprises: which nodes apply drained is written on the nodes themselves, as their reason. It outlives a
killed apply, and a node that somebody else drained, before or since, bears another reason.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from slurmwright.apply.hosts import UNREACHED, Hosts
from slurmwright.core.hosts import expand, fold
from slurmwright.core.run import Result

_FIELD = {
    key: re.compile(rf"(?:^| ){key}=(\S*)") for key in ("NodeName", "State", "PartitionName", "BootTime")
}
_REASON = re.compile(r" Reason=(.*?)(?: \[\S+@\S+\])?(?= Comment=| Extra=|$)")
_LIMIT_S = 60.0
#: Jobs in these states hold their nodes.
_BUSY = "RUNNING,COMPLETING,SUSPENDED,CONFIGURING,STOPPED,SIGNALING,STAGE_OUT"


@dataclass(frozen=True)
class Node:
    """A node as slurmctld sees it."""

    name: str
    state: frozenset[str]
    reason: str

    @property
    def away(self) -> bool:
        """Does its slurmd not answer?"""
        return bool(self.state & {"NOT_RESPONDING", "DOWN", "UNKNOWN", "INVALID_REG", "POWERED_DOWN"})


class Control:
    """Slurm's commands on the first controller that is reached."""

    def __init__(self, hosts: Hosts, controllers: Sequence[str]) -> None:
        self._hosts, self._controllers = hosts, tuple(controllers)

    def run(self, *argv: str) -> Result:
        done = Result(argv, UNREACHED, "", "the cluster has no controller")
        for name in self._controllers:
            done = self._hosts.run(name, argv, limit_s=_LIMIT_S)
            if done.code != UNREACHED:
                break
        return done

    def ups(self) -> tuple[bool, ...]:
        """For each controller in Slurm's order: does its slurmctld answer?"""
        return tuple(
            "is UP" in line for line in self.run("scontrol", "ping").out.splitlines() if " at " in line
        )

    def answers(self) -> bool:
        return any(self.ups())

    def nodes(self) -> dict[str, Node]:
        """Every node by name; none where slurmctld does not answer."""
        done = self.run("scontrol", "show", "node", "-o")
        return {node.name: node for line in done.out.splitlines() if (node := _node(line)) is not None}

    def partition_states(self) -> dict[str, str]:
        found = {}
        for line in self.run("scontrol", "show", "partition", "-o").out.splitlines():
            name, state = (_FIELD[key].search(line) for key in ("PartitionName", "State"))
            if name and state:
                found[name[1]] = state[1]
        return found

    def jobs_on(self, nodes: Collection[str] = (), partition: str = "") -> tuple[str, ...] | None:
        """The jobs that hold a node or run in a partition; None where slurmctld did not say."""
        which = ("-w", fold(nodes)) if nodes else ("-p", partition)
        done = self.run("squeue", "-h", "-a", "-o", "%A", "-t", _BUSY, *which)
        return tuple(sorted(set(done.out.split()))) if done.ok else None

    def set_nodes(self, nodes: Collection[str], *words: str) -> Result:
        return self.run("scontrol", "update", f"NodeName={fold(nodes)}", *words)

    def set_partition(self, name: str, state: str) -> Result:
        return self.run("scontrol", "update", f"PartitionName={name}", f"State={state}")


def mark(name: str) -> str:
    """The reason of nodes that the execution of this name drains."""
    return f"slurmwright apply {name}"


def drained_by(nodes: Collection[Node], name: str) -> tuple[str, ...]:
    """Those of the nodes that bear our mark and are drained."""
    return tuple(node.name for node in nodes if node.reason == mark(name) and "DRAIN" in node.state)


def _node(line: str) -> Node | None:
    name, state = (_FIELD[key].search(line) for key in ("NodeName", "State"))
    if name is None or state is None:
        return None
    words = state[1].replace("*", "+NOT_RESPONDING").split("+")
    reason = _REASON.search(line)
    return Node(name[1], frozenset(words), reason[1] if reason else "")


def names(folded: str) -> tuple[str, ...]:
    """The hosts of a step, in its order."""
    return expand(folded) if folded else ()
