"""Turns what sinfo prints into the nodes that jobs can be tried on now, and why others are not tried."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from slurmwright.verify.expect import ExpectedNode

#: Node, state, availability of the partition, partition (the default one with a `*`), reason.
SINFO = ("sinfo", "-h", "-N", "-a", "-o", "%N|%T|%a|%P|%E")
_GONE = ("down", "fail", "error", "inval", "unknown", "no_respond", "perfctrs")
_LEFT_ALONE = ("drain", "maint", "reboot", "power", "blocked", "future")


@dataclass(frozen=True)
class Row:
    """One node in one partition."""

    node: str
    state: str
    up: bool
    partition: str
    default: bool
    reason: str

    @property
    def gone(self) -> bool:
        """slurmctld cannot use it: no admin has taken it out."""
        return self.state.startswith(_GONE) or (
            self.state.endswith("*") and not self.state.startswith(_LEFT_ALONE)
        )

    @property
    def free(self) -> bool:
        return self.state in ("idle", "reserved", "planned")

    @property
    def told(self) -> str:
        told = f"its state is {self.state}"
        return f"{told}: {self.reason}" if self.reason and self.reason != "none" else told


@dataclass(frozen=True)
class Chosen:
    """Nodes of one kind, the partition through which jobs reach them, and why others of it are not tried."""

    name: str
    shape: ExpectedNode
    partition: str
    nodes: tuple[str, ...]
    skipped: Mapping[str, str]


def read_rows(text: str) -> tuple[Row, ...]:
    """The output of SINFO."""
    cells = (line.split("|", 4) for line in text.splitlines())
    return tuple(
        Row(node, state, up == "up", partition.rstrip("*"), partition.endswith("*"), reason.strip())
        for node, state, up, partition, reason in (row for row in cells if len(row) == 5)
    )


def choose(
    shapes: Mapping[str, ExpectedNode],
    rows: Iterable[Row],
    wanted: Collection[str],
    partition: str,
    reserved: bool,
) -> tuple[Chosen, ...]:
    """For each kind of node the idle ones, in the partition that has most of them; `wanted` are those
    asked for (all of them where it is empty)."""
    of_node: dict[str, list[Row]] = {}
    for row in rows:
        of_node.setdefault(row.node, []).append(row)
    kinds: dict[tuple[str, int], list[str]] = {}
    for host, shape in shapes.items():
        if not wanted or host in wanted:
            kinds.setdefault((shape.type, len(shape.gpus)), []).append(host)
    return tuple(
        _chosen(kind, hosts, shapes[hosts[0]], of_node, partition, reserved) for kind, hosts in kinds.items()
    )


def _chosen(
    kind: tuple[str, int],
    hosts: list[str],
    shape: ExpectedNode,
    rows: Mapping[str, list[Row]],
    partition: str,
    reserved: bool,
) -> Chosen:
    usable: dict[str, list[str]] = {}
    skipped: dict[str, str] = {}
    for host in hosts:
        ways = [row for row in rows.get(host, ()) if row.up and (not partition or row.partition == partition)]
        why = _why_not(rows.get(host, []), ways, partition, reserved)
        if why:
            skipped[host] = why
            continue
        for row in sorted(ways, key=lambda one: not one.default):
            usable.setdefault(row.partition, []).append(host)
    best = max(usable, key=lambda name: len(usable[name]), default=partition)
    nodes = tuple(usable.get(best, ()))
    left = {host: f"not in partition {best}" for host in hosts if host not in nodes and host not in skipped}
    return Chosen(f"{kind[0]} with {kind[1]} GPUs", shape, best, nodes, {**skipped, **left})


def _why_not(every: list[Row], ways: list[Row], partition: str, reserved: bool) -> str:
    if not every:
        return "slurmctld does not know it"
    if not ways:
        return f"partition {partition} does not have it, or is not up" if partition else "no partition has it"
    row = ways[0]
    if row.state == "reserved" and not reserved:
        return "it is reserved; name the reservation"
    return "" if row.free else row.told
